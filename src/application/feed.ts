import type { Feed, FeedFilter, FeedPage } from '../api/ports.ts';
import type { Event } from '../contract/events.ts';
import type { LedgerStore, StoredEvent } from '../ledger/store.ts';
import { decodeCursor, encodeCursor } from '../store/cursor.ts';
import type { EventFilter, EventLog } from '../store/views.ts';
import { toEvent } from './wire.ts';

/** How many stored events a subscriber that starts in the past is given at a time. */
const catchUpLimit = 500;

/** Committed events for whoever listens: pushed by the commit, resumed by cursor, none twice, none missed. */
export async function createFeed(store: LedgerStore, log: EventLog): Promise<Feed & { stop(): void }> {
  let newest = await log.lastSequence();
  const stop = store.onCommit(({ events }) => {
    newest = Math.max(newest, events.at(-1)?.sequence ?? 0);
  });
  const cursorOf = (sequence: number): string => encodeCursor(log.databaseId, sequence);
  const shown = (event: StoredEvent): Event => toEvent(event, cursorOf(event.sequence));
  return {
    stop,
    currentCursor: () => cursorOf(newest),
    async since(cursor, filter, limit): Promise<FeedPage> {
      const sequence = decodeCursor(log.databaseId, cursor);
      if (typeof sequence !== 'number') return { state: 'foreign' };
      const page = await log.eventsSince(sequence, idsOf(filter), limit);
      return { state: 'events', events: page.events.map(shown), next: cursorOf(page.through) };
    },
    subscribe(options, onEvent, onBroken) {
      const after = options.after === undefined ? newest : decodeCursor(log.databaseId, options.after);
      const start = typeof after === 'number' ? after : newest;
      return subscribe(store, log, options, start, (event) => onEvent(shown(event)), onBroken);
    },
  };
}

function idsOf(filter: FeedFilter): EventFilter {
  return { rootId: filter.root, sessionId: filter.session };
}

/** What is pushed while the past is still being read waits behind it. */
function subscribe(
  store: LedgerStore,
  log: EventLog,
  filter: FeedFilter,
  start: number,
  onEvent: (event: StoredEvent) => void,
  onBroken: (error: unknown) => void,
): () => void {
  let reached = start;
  let waiting: StoredEvent[] | undefined = [];
  let isOver = false;
  const give = (event: StoredEvent): void => {
    if (isOver || event.sequence <= reached) return;
    reached = event.sequence;
    if (matches(event, filter)) onEvent(event);
  };
  const stop = store.onCommit(({ events }) => {
    if (waiting) waiting.push(...events);
    else events.forEach(give);
  });
  const catchUp = async (): Promise<void> => {
    for (let isEnd = false; !isEnd && !isOver; ) {
      const page = await log.eventsSince(reached, idsOf(filter), catchUpLimit);
      page.events.forEach(give);
      reached = Math.max(reached, page.through);
      isEnd = page.isEnd;
    }
    const rest = waiting ?? [];
    waiting = undefined;
    rest.forEach(give);
  };
  const end = (): void => {
    isOver = true;
    stop();
  };
  void catchUp().catch((error: unknown) => {
    // A subscriber that hears no more must know: one that believes in the silence would wait for ever.
    if (!isOver) onBroken(error);
    end();
  });
  return end;
}

function matches(event: StoredEvent, filter: FeedFilter): boolean {
  if (filter.root !== undefined && event.rootId !== filter.root) return false;
  return filter.session === undefined || event.sessionId === filter.session;
}
