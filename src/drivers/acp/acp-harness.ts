import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { Ids } from '../../base/ids.ts';
import { waitUntil } from '../../base/pause.ts';
import { demoFromSource } from '../demo/demo-from-source.ts';
import type { AgentProfile, Conversation, Driver, DriverEvent, Opened, OpenRequest } from '../port.ts';
import { acpDriver } from './driver.ts';

const waitMs = 30_000;

type EventOf<T extends DriverEvent['type']> = Extract<DriverEvent, { type: T }>;

/** For tests: a place of its own on disk, a demo agent with a script, and what the driver says about it. */
export class Bench {
  readonly root = mkdtempSync(join(tmpdir(), 'stemma-acp-'));
  readonly directory = join(this.root, 'session');
  readonly events: DriverEvent[] = [];
  readonly profile: AgentProfile;
  readonly #driver: Driver;
  readonly #opened: Conversation[] = [];

  /** The agent plays `script`: its rules, or a whole script. */
  constructor(
    script: readonly unknown[] | Readonly<Record<string, unknown>>,
    more: Partial<AgentProfile> = {},
    openingMs = 60_000,
  ) {
    mkdirSync(this.directory);
    const command = demoFromSource(this.root, Array.isArray(script) ? { rules: script } : script);
    this.profile = { name: 'demo', driver: 'acp', command, env: { STEMMA_DEMO_HOME: this.root }, ...more };
    this.#driver = acpDriver({ clock: systemClock, openingMs });
  }

  /** Opens the conversation; it is ended by `close`. */
  async open(more: Partial<OpenRequest> = {}): Promise<Opened> {
    const result = await this.#driver.open({
      sessionId: new Ids(systemClock.now, () => 0).make('session'),
      profile: this.profile,
      cwd: this.root,
      directory: this.directory,
      position: 0,
      unresolved: [],
      emit: (event) => void this.events.push(event),
      ...more,
    });
    if (result.ok) this.#opened.push(result.conversation);
    return result;
  }

  /** Opens, and fails the test when that fails. */
  async conversation(more: Partial<OpenRequest> = {}): Promise<Conversation> {
    const result = await this.open(more);
    if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
    return result.conversation;
  }

  /** Waits for the first event of this type that `fits`; fails the test after half a minute. */
  async event<T extends DriverEvent['type']>(
    type: T,
    fits: (event: EventOf<T>) => boolean = () => true,
  ): Promise<EventOf<T>> {
    const find = (): EventOf<T> | undefined =>
      this.events.find((event): event is EventOf<T> => event.type === type && fits(event as EventOf<T>));
    await waitUntil(systemClock, () => find() !== undefined, waitMs);
    const found = find();
    if (!found) throw new Error(`no ${type} among:\n${this.told().join('\n')}`);
    return found;
  }

  /** The events so far in short. */
  told(): string[] {
    return told(this.events);
  }

  /** Ends every process that was opened here. */
  async close(): Promise<void> {
    for (const conversation of this.#opened) await conversation.end();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Events in short, for comparing. */
export function told(events: readonly DriverEvent[]): string[] {
  return events.map((event) => {
    switch (event.type) {
      case 'turnStarted':
        return `started ${event.nativeTurnId.replace(/\d+$/, '')}${event.deliveryId ?? ''}`;
      case 'turnEnded':
        return `ended ${event.status}: ${event.error ? `${event.error.kind}: ${event.error.message}` : event.answer}`;
      case 'item':
        return `${event.item.kind}: ${event.item.text}`;
      case 'waiting':
        return `waiting: ${event.text} [${event.choices?.join(', ')}]`;
      case 'noise':
        return `noise: ${event.what}`;
      case 'exited':
        return `exited: ${event.reason}`;
      default:
        return event.type;
    }
  });
}
