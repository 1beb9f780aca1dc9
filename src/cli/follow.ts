import type { Event } from '../contract/events.ts';
import type { TreeView } from '../contract/execution.ts';
import type { Run } from '../contract/run.ts';
import type { Clock } from '../base/clock.ts';
import { pause, pauseOrThrow } from '../base/pause.ts';
import { Patience } from '../client/retry.ts';
import type { StemmaClient } from '../client/stemma-client.ts';

/** What is followed: one root, or a run with the root of each of its messages. */
export type Target =
  | { readonly kind: 'root'; readonly id: string }
  | { readonly kind: 'run'; readonly id: string };

/** One reading of what is followed. */
export interface Snapshot {
  /** Only when a run is followed. */
  readonly run?: Run;
  /** The trees, in the order of the messages. */
  readonly trees: readonly TreeView[];
  readonly isEnded: boolean;
}

/** Between two readings, at least this and three times what one takes; milliseconds. A large tree is read less often. */
const shortestGapMs = 60;
const gapsPerReading = 3;
/** Without any event, read again after this, in case the news of a change went by another way; milliseconds. */
const quietMs = 5_000;

/** Who hears of what is followed. */
export interface Listener {
  readonly onSnapshot: (snapshot: Snapshot) => void;
  /** The server does not answer, and is asked again; heard once, until the next reading. */
  readonly onGone?: () => void;
}

/**
 * Reads the target, hands each reading to `onSnapshot`, and reads again when events say that something changed, until
 * it has ended; resolves with the last reading. Throws what the client throws, and the signal's reason.
 */
export async function follow(
  client: StemmaClient,
  target: Target,
  signal: AbortSignal,
  { onSnapshot, onGone }: Listener,
): Promise<Snapshot> {
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const news = new News(client.clock);
  let latest: Snapshot | undefined;
  const listening = listen(client, target, until, (event) => {
    if (!event || concerns(event, latest)) news.tell();
  }).catch((thrown: unknown) => stop.abort(thrown));
  try {
    const patience = new Patience(client.clock);
    let isGone = false;
    for (;;) {
      await news.next(quietMs, until);
      const began = client.clock.monotonic();
      const read = await readSnapshot(client, target, latest, until).catch((thrown) => {
        const isNews = !isGone && patience.hasPatience(thrown);
        isGone ||= isNews;
        if (isNews) onGone?.();
        return patience.failed(thrown, until);
      });
      if (!read) {
        news.tell();
        continue;
      }
      patience.succeeded();
      isGone = false;
      latest = read;
      onSnapshot(read);
      if (read.isEnded) return read;
      const tookMs = client.clock.monotonic() - began;
      await pauseOrThrow(client.clock, Math.max(shortestGapMs, tookMs * gapsPerReading), until);
    }
  } finally {
    stop.abort(new Error('no longer followed'));
    await listening;
  }
}

/** Calls `onNews` for each event, and without one each time the stream broke or stands anew. Ends with the signal. */
async function listen(
  client: StemmaClient,
  target: Target,
  signal: AbortSignal,
  onNews: (event?: Event) => void,
): Promise<void> {
  const root = target.kind === 'root' ? { root: target.id } : {};
  const onChange = (): void => onNews();
  const events = client.events({ ...root, signal, onOpen: onChange, onBroken: onChange });
  for await (const event of events) onNews(event);
}

/** A flag that is raised by news and lowered by whoever takes it. */
class News {
  readonly #clock: Clock;
  #isThere = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell(): void {
    this.#isThere = true;
    this.#wake?.();
  }

  /** Resolves at the next news, at once if some came since, or after `atMostMs`; rejects with the signal's reason. */
  async next(atMostMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isThere) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await pause(this.#clock, atMostMs, AbortSignal.any([signal, woken.signal]));
      signal.throwIfAborted();
    }
    this.#isThere = false;
    this.#wake = undefined;
  }
}

function concerns(event: Event, snapshot: Snapshot | undefined): boolean {
  if (!snapshot || event.type === 'reset' || event.type.startsWith('run.')) return true;
  if (snapshot.run?.sessionId !== undefined && event.sessionId === snapshot.run.sessionId) return true;
  return snapshot.trees.some((tree) => tree.root === event.rootId);
}

/** One reading of a target; trees that were closed `before` are not asked for again. */
export async function readSnapshot(
  client: StemmaClient,
  target: Target,
  before: Snapshot | undefined,
  signal: AbortSignal,
): Promise<Snapshot> {
  if (target.kind === 'root') {
    const tree = await client.call('getTree', { id: target.id, signal });
    return { trees: [tree], isEnded: tree.closed };
  }
  const run = await client.call('getRun', { id: target.id, signal });
  const roots = run.messages.flatMap((message) => message.attempts.map((attempt) => attempt.executionId));
  const known = new Map(before?.trees.filter((tree) => tree.closed).map((tree) => [tree.root, tree]));
  const trees: TreeView[] = [];
  for (const id of roots) trees.push(known.get(id) ?? (await client.call('getTree', { id, signal })));
  return { run, trees, isEnded: run.state === 'ended' };
}
