import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import { Ids, type SessionId } from '../../src/base/ids.ts';
import { codexDriver } from '../../src/drivers/codex/driver.ts';
import type {
  AgentProfile,
  Conversation,
  Driver,
  DriverEvent,
  Opened,
  OpenRequest,
} from '../../src/drivers/port.ts';
import { endGroup } from '../../src/processes/group.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { type ModelServer, startModelServer } from '../model/model-server.ts';
import { startToolServer, type ToolServer } from './codex-tools.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The program under test, or undefined after saying how to get it. */
export function findCodex(): string | undefined {
  const program = process.env['STEMMA_CODEX'] ?? join(root, '.agents/node_modules/.bin/codex');
  if (existsSync(program)) return program;
  console.warn(
    `\n  SKIPPED: ${program} is missing. Run "node scripts/install-agents.mjs", or set STEMMA_CODEX.\n`,
  );
  return undefined;
}

/** Writes a home whose model is the scripted one. */
export function writeCodexHome(home: string, modelUrl: string, more = ''): void {
  mkdirSync(home, { recursive: true });
  const lines = [
    'model = "scripted"',
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = "${modelUrl}"`,
    'env_key = "SCRIPTED_KEY"',
    'wire_api = "responses"',
    'request_max_retries = 1',
    'stream_max_retries = 1',
    'supports_websockets = false',
    '[analytics]',
    'enabled = false',
    '[feedback]',
    'enabled = false',
    more,
  ];
  writeFileSync(join(home, 'config.toml'), lines.join('\n'));
}

/** A conversation with everything it emitted. */
export interface Talk {
  readonly conversation: Conversation;
  readonly how: 'started' | 'resumed' | 'adopted';
  readonly events: DriverEvent[];
  readonly request: OpenRequest;
  /** Waits for an event of this type that fits; those before `from` do not count. */
  event<Type extends DriverEvent['type']>(
    type: Type,
    fits?: (event: Extract<DriverEvent, { type: Type }>) => boolean,
    timeoutMs?: number,
  ): Promise<Extract<DriverEvent, { type: Type }>>;
  /** Sends a text and waits for the end of its turn. */
  turn(text: string): Promise<Extract<DriverEvent, { type: 'turnEnded' }>>;
  all<Type extends DriverEvent['type']>(type: Type): Extract<DriverEvent, { type: Type }>[];
}

/** Everything a test needs: a scripted model, tools, a home of its own, and the driver. */
export class CodexBench {
  readonly model: ModelServer;
  readonly tools: ToolServer;
  readonly directory: string;
  readonly home: string;
  readonly cwd: string;
  driver: Driver = codexDriver({ clock: systemClock });
  readonly #program: string;
  readonly #ids = new Ids(Date.now, Math.random);

  private constructor(program: string, model: ModelServer, tools: ToolServer, directory: string) {
    this.#program = program;
    this.model = model;
    this.tools = tools;
    this.directory = directory;
    this.home = join(directory, 'home');
    this.cwd = join(directory, 'work');
  }

  static async start(program: string, more = ''): Promise<CodexBench> {
    const model = await startModelServer();
    const directory = mkdtempSync(join(tmpdir(), 'stemma-codex-'));
    const bench = new CodexBench(program, model, await startToolServer(), directory);
    mkdirSync(bench.cwd);
    writeCodexHome(bench.home, model.url, more);
    return bench;
  }

  profile(more: Partial<AgentProfile> = {}): AgentProfile {
    return {
      name: 'codex',
      driver: 'codex',
      command: [this.#program],
      home: this.home,
      env: { HOME: this.directory, SCRIPTED_KEY: 'x' },
      sandbox: 'full',
      ...more,
    };
  }

  /** A request for a session of this name, the same each time. */
  request(name: string, more: Partial<OpenRequest> = {}): OpenRequest {
    const directory = join(this.directory, 'sessions', name);
    mkdirSync(directory, { recursive: true });
    return {
      sessionId: `ses_${name}` as SessionId,
      profile: this.profile(),
      cwd: this.cwd,
      directory,
      tools: { url: this.tools.url, token: `bearer-${name}` },
      position: 0,
      unresolved: [],
      emit: () => undefined,
      ...more,
    };
  }

  async open(name: string, more: Partial<OpenRequest> = {}): Promise<Talk> {
    const { opened, talk } = await this.tryOpen(name, more);
    if (!talk) throw new Error(`not opened: ${JSON.stringify(opened)}`);
    return talk;
  }

  async tryOpen(name: string, more: Partial<OpenRequest> = {}): Promise<{ opened: Opened; talk?: Talk }> {
    const events: DriverEvent[] = [];
    const waiters = new Set<() => void>();
    const request = this.request(name, {
      ...more,
      emit: (event) => {
        events.push(event);
        for (const look of waiters) look();
      },
    });
    const opened = await this.driver.open(request);
    if (!opened.ok) return { opened };
    const { conversation, how } = opened;
    return {
      opened,
      talk: makeTalk({ conversation, how, events, request, waiters, nextId: () => this.deliveryId() }),
    };
  }

  deliveryId(): string {
    return this.#ids.make('turn');
  }

  /** Forgets the driver as the death of our process would, and takes a fresh one. Open conversations are detached. */
  async restart(...talks: Talk[]): Promise<void> {
    for (const talk of talks) await talk.conversation.detach();
    this.driver = codexDriver({ clock: systemClock });
  }

  /** The directory of the one app-server of the home. */
  serverDirectory(): string {
    const place = join(this.home, 'stemma');
    const [name] = existsSync(place) ? readdirSync(place) : [];
    return join(place, name ?? 'none');
  }

  async stop(): Promise<void> {
    const place = join(this.home, 'stemma');
    for (const name of existsSync(place) ? readdirSync(place) : []) {
      const leader = await readRecord(join(place, name));
      if (leader) await endGroup(leader, { graceMs: 300, clock: systemClock });
    }
    await this.model.stop();
    await this.tools.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function makeTalk(parts: {
  conversation: Conversation;
  how: Talk['how'];
  events: DriverEvent[];
  request: OpenRequest;
  waiters: Set<() => void>;
  nextId: () => string;
}): Talk {
  const { conversation, how, events, request, waiters, nextId } = parts;
  const event: Talk['event'] = (type, fits = () => true, timeoutMs = 20_000) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        for (const found of events) {
          if (found.type !== type || !fits(found as never)) continue;
          finish();
          return resolve(found as never);
        }
      };
      const finish = (): void => {
        clearTimeout(timer);
        waiters.delete(look);
      };
      const timer = setTimeout(() => {
        finish();
        const seen = events.map((e) => (e.type === 'noise' ? `noise: ${e.what}` : e.type)).join(', ');
        reject(new Error(`no ${type} within ${timeoutMs} ms; seen: ${seen}`));
      }, timeoutMs);
      waiters.add(look);
      look();
    });
  const turn: Talk['turn'] = async (text) => {
    const id = nextId();
    const sent = await conversation.start({ id, text });
    if (sent.outcome !== 'written') throw new Error(`not written: ${JSON.stringify(sent)}`);
    const { nativeTurnId } = await event('turnStarted', (e) => e.deliveryId === id);
    return event('turnEnded', (e) => e.nativeTurnId === nativeTurnId);
  };
  const all: Talk['all'] = (type) => events.filter((e) => e.type === type) as never;
  return { conversation, how, events, request, event, turn, all };
}
