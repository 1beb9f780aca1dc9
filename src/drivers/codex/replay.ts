import { isCall } from './transcript.ts';
import { type CodexTurn, completed, type ItemEntry, type Signal, started } from './wire.ts';

/** A turn of the record with its items, in the order in which they were completed. */
export interface RecordedTurn {
  readonly turn: CodexTurn;
  readonly items: readonly ItemEntry[];
}

/** What a recorded turn would have told us, live. */
export interface Replayed {
  /** Its start and its items. */
  readonly during: readonly Signal[];
  /** Its end, unless it runs. */
  readonly end: Signal | undefined;
  /** The end of what it had left running. */
  readonly after: readonly Signal[];
}

/** Turns the record of a turn into the signals of which it was made. Pure. */
export function replayTurn(threadId: string, { turn, items }: RecordedTurn): Replayed {
  const toSignal = (type: 'itemStarted' | 'itemCompleted', { item }: ItemEntry): Signal => {
    return { type, threadId, turnId: turn.id, item };
  };
  const isLate = latenessIn(turn, items);
  const starts = startsBefore(items);
  const during = items.flatMap((entry, index) => [
    ...(starts[index] ?? []).map((start) => toSignal('itemStarted', start)),
    ...(isLate(entry, index) ? [] : [toSignal('itemCompleted', entry)]),
  ]);
  const end = completed(threadId, turn);
  return {
    during: [started(threadId, turn), ...during],
    end,
    after: items.filter(isLate).map((entry) => toSignal('itemCompleted', entry)),
  };
}

/** For each item, the calls that had started when it was completed and not when the one before it was. */
function startsBefore(items: readonly ItemEntry[]): ItemEntry[][] {
  const starts: ItemEntry[][] = items.map(() => []);
  items.forEach((entry, index) => {
    if (!isCall(entry.item)) return;
    const startedAt = entry.startedAtMs ?? Number.POSITIVE_INFINITY;
    const place = items.findIndex((other, i) => i === index || (other.completedAtMs ?? 0) >= startedAt);
    starts[place]?.push(entry);
  });
  for (const bucket of starts) bucket.sort((a, b) => (a.startedAtMs ?? 0) - (b.startedAtMs ?? 0));
  return starts;
}

/**
 * Which commands outlived the turn. The record keeps the turn's end in whole seconds only, so the order helps: whatever
 * a completed turn waited for was over before its last text.
 */
function latenessIn(
  turn: CodexTurn,
  items: readonly ItemEntry[],
): (entry: ItemEntry, index: number) => boolean {
  const lastText = items.findLastIndex(({ item }) => item.type === 'agentMessage');
  const surelyAfterMs = turn.completedAt == null ? Number.POSITIVE_INFINITY : (turn.completedAt + 1) * 1000;
  return ({ item, completedAtMs }, index) => {
    if (item.type !== 'commandExecution' || turn.status === 'inProgress') return false;
    const isBehindAnswer = turn.status === 'completed' && lastText >= 0 && index > lastText;
    return isBehindAnswer || (completedAtMs ?? 0) >= surelyAfterMs;
  };
}
