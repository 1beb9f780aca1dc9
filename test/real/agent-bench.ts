import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestRunner } from 'vitest';
import { Ids, type SessionId } from '../../src/base/ids.ts';
import type {
  AgentProfile,
  Conversation,
  Driver,
  DriverEvent,
  Opened,
  OpenRequest,
} from '../../src/drivers/port.ts';
import { completeProfile } from '../../src/main/profiles.ts';
import { type ModelServer, startModelServer } from '../model/model-server.ts';
import type { AgentKit } from './kit.ts';
import { startToolServer, type ToolServer } from './tool-server.ts';

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

/** Everything a test of a driver needs: a scripted model, tools, a place of its own, and the driver. */
export class AgentBench {
  readonly model: ModelServer;
  readonly tools: ToolServer;
  readonly directory: string;
  readonly cwd: string;
  driver: Driver;
  readonly #kit: AgentKit;
  readonly #profile: AgentProfile;
  readonly #ids = new Ids(Date.now, Math.random);

  private constructor(
    kit: AgentKit,
    parts: { model: ModelServer; tools: ToolServer; directory: string; profile: AgentProfile },
  ) {
    this.#kit = kit;
    this.#profile = parts.profile;
    this.driver = kit.driver();
    this.model = parts.model;
    this.tools = parts.tools;
    this.directory = parts.directory;
    this.cwd = join(parts.directory, 'work');
  }

  static async start(kit: AgentKit, program: string): Promise<AgentBench> {
    const model = await startModelServer();
    const directory = mkdtempSync(join(tmpdir(), `stemma-${kit.name}-`));
    const input = kit.profile(program, directory, model);
    const profile = completeProfile(kit.name, input, [input.driver]);
    const bench = new AgentBench(kit, { model, tools: await startToolServer(), directory, profile });
    mkdirSync(bench.cwd);
    return bench;
  }

  profile(more: Partial<AgentProfile> = {}): AgentProfile {
    return { ...this.#profile, ...more };
  }

  /** A request for a session of this name, the same each time within one try of a test. */
  request(given: string, more: Partial<OpenRequest> = {}): OpenRequest {
    // What an earlier try left would be read as this one's own.
    const retry = TestRunner.getCurrentTest()?.result?.retryCount ?? 0;
    const name = retry === 0 || given.endsWith(`-try${retry}`) ? given : `${given}-try${retry}`;
    const directory = join(this.directory, 'sessions', name);
    mkdirSync(directory, { recursive: true });
    return {
      sessionId: `ses_${name}` as SessionId,
      profile: this.profile(),
      cwd: this.cwd,
      directory,
      tools: {
        url: this.tools.url,
        token: `bearer-${name}`,
        listings: () => this.tools.listings(`bearer-${name}`),
      },
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
    this.driver = this.#kit.driver();
  }

  async stop(): Promise<void> {
    await this.#kit.cleanUp?.(this.directory);
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
