import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { Ids } from '../../base/ids.ts';
import { waitUntil } from '../../processes/pause.ts';
import { demoFromSource } from '../demo/demo-from-source.ts';
import type { AgentProfile, Conversation, DriverEvent, Opened, OpenRequest } from '../port.ts';
import { acpDriver } from './driver.ts';

/** For tests: a place of its own on disk, a demo agent with a script, and what the driver says about it. */
export interface Bench {
  readonly root: string;
  readonly events: DriverEvent[];
  readonly profile: AgentProfile;
  open(more?: Partial<OpenRequest>): Promise<Opened>;
  /** Opens, and fails the test when that fails. */
  conversation(more?: Partial<OpenRequest>): Promise<Conversation>;
  /** Waits for the first event of this type that `fits`; fails the test after half a minute. */
  event<T extends DriverEvent['type']>(type: T, fits?: (event: Extract<DriverEvent, { type: T }>) => boolean): Promise<Extract<DriverEvent, { type: T }>>;
  /** A short form of the events so far, with delivery ids instead of whole turn ids. */
  told(): string[];
  /** Ends every process that was opened here. */
  close(): Promise<void>;
}

const waitMs = 30_000;

/** Makes a bench whose agent plays `rules`, or a whole script when it is no list. */
export function makeBench(script: readonly unknown[] | Readonly<Record<string, unknown>>, more: Partial<AgentProfile> = {}, openingMs = 60_000): Bench {
  const root = mkdtempSync(join(tmpdir(), 'stemma-acp-'));
  const directory = join(root, 'session');
  mkdirSync(directory);
  const events: DriverEvent[] = [];
  const opened: Conversation[] = [];
  const command = demoFromSource(root, Array.isArray(script) ? { rules: script } : script);
  const profile: AgentProfile = { name: 'demo', driver: 'acp', command, env: { STEMMA_DEMO_HOME: root }, ...more };
  const driver = acpDriver({ clock: systemClock, openingMs });
  const open = async (request: Partial<OpenRequest> = {}): Promise<Opened> => {
    const sessionId = new Ids(systemClock.now, () => 0).make('session');
    const emit = (event: DriverEvent): void => void events.push(event);
    const result = await driver.open({ sessionId, profile, cwd: root, directory, position: 0, unresolved: [], emit, ...request });
    if (result.ok) opened.push(result.conversation);
    return result;
  };
  return {
    root,
    events,
    profile,
    open,
    conversation: async (request) => {
      const result = await open(request);
      if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
      return result.conversation;
    },
    event: async (type, fits = () => true) => {
      type Wanted = Extract<DriverEvent, { type: typeof type }>;
      const find = (): Wanted | undefined => events.find((event): event is Wanted => event.type === type && fits(event as Wanted));
      await waitUntil(systemClock, () => find() !== undefined, waitMs);
      const found = find();
      if (!found) throw new Error(`no ${type} among:\n${told(events).join('\n')}`);
      return found;
    },
    told: () => told(events),
    close: async () => {
      for (const conversation of opened) await conversation.end();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A short form of events, for comparing. */
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
