import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import type { DriverEvent } from '../port.ts';
import { readEvent } from './read-event.ts';
import { reduce } from './reduce.ts';
import type { Signal } from './signal.ts';
import { messageIdOf, newSessionState, type SessionState } from './state.ts';
import { messageList, type Recorded } from './wire.ts';

const directory = new URL('../../../test/corpus/opencode/1.18.33/', import.meta.url);
const first = z.object({ sessionId: z.string(), deliveries: z.array(z.string()) });
const last = z.object({ record: messageList });

/** Recorded traffic of the real program, for the tests of this folder. */
export interface Corpus {
  readonly name: string;
  /** Before anything was heard: our texts are on their way. */
  readonly state: SessionState;
  readonly signals: readonly Signal[];
  /** The list of messages at the end. */
  readonly record: readonly Recorded[];
}

/** All recordings, or one by its name. */
export function readCorpus(): Corpus[] {
  return readdirSync(directory).map((file) => readOne(file.replace('.jsonl', '')));
}

/** One recording. */
export function readOne(name: string): Corpus {
  const lines = readFileSync(new URL(`${name}.jsonl`, directory), 'utf8')
    .trim()
    .split('\n')
    .map(parseJson);
  const { sessionId, deliveries } = first.parse(lines[0]);
  const { record } = last.parse(lines.at(-1));
  const sending = deliveries.map(
    (id): Signal => ({ type: 'sending', deliveryId: id, messageId: messageIdOf(id) }),
  );
  const { state } = reduceAll(newSessionState(sessionId, 0), sending);
  const signals = lines.slice(1, -1).flatMap((line): Signal[] => {
    const read = readEvent(line);
    if (Array.isArray(read)) return read;
    return 'signal' in read ? [read.signal] : [];
  });
  return { name, state, signals, record };
}

/** Reduces signals one after the other. */
export function reduceAll(
  state: SessionState,
  signals: readonly Signal[],
): { state: SessionState; events: DriverEvent[] } {
  const events: DriverEvent[] = [];
  let now = state;
  for (const signal of signals) {
    const reduced = reduce(now, signal);
    now = reduced.state;
    events.push(...reduced.events);
  }
  return { state: now, events };
}

/** Events in short, without items, usage and positions. */
export function outline(events: readonly DriverEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'turnStarted':
        return [
          `started by ${event.deliveryId ?? (event.typed ? `"${event.typed.text}"` : (event.taskId ?? 'itself'))}`,
        ];
      case 'taken':
        return [`taken ${event.deliveryId}`];
      case 'turnEnded': {
        const { status, answer, error, tasks } = event;
        return [
          [`ended ${status}`, answer || error?.kind, ...tasks.map(({ name }) => name)]
            .filter(Boolean)
            .join(': '),
        ];
      }
      case 'taskEnded':
        return [`task ${event.status}: ${event.result}`];
      case 'waiting':
        return [`waits for ${event.waitsFor}`];
      case 'item':
      case 'usage':
        return [];
      default:
        return [event.type];
    }
  });
}
