import type { Clock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { Serial } from '../base/serial.ts';
import type { Records, TranscriptItem } from '../store/records.ts';
import type { TranscriptSink } from '../turns/ports.ts';

/** Most items that wait to be stored; beyond them what is shown of a session has a gap, and the work goes on. */
const pendingLimit = 10_000;
/** Places of one read position: several items may come of one line of an agent's stream. */
const placesPerPosition = 16;

/** Keeps what was said, in the order in which it was said. A replayed item finds its place taken and is left out. */
export function createTranscript(
  records: Records,
  clock: Clock,
  onError: (error: unknown) => void,
): TranscriptSink & { flush(): Promise<void> } {
  const serial = new Serial();
  let pending: TranscriptItem[] = [];
  const last = new Map<SessionId, { sequence: number; position: number; place: number }>();
  const write = async (): Promise<void> => {
    const items = pending;
    pending = [];
    if (items.length > 0) await records.appendTranscript(items);
  };
  return {
    append(sessionId, position, item) {
      if (pending.length >= pendingLimit) return;
      const before = last.get(sessionId);
      const place = before?.position === position ? before.place + 1 : 0;
      // An agent without a stream of positions is ordered by the clock.
      const exact = position * placesPerPosition + Math.min(place, placesPerPosition - 1);
      const byClock = Math.max(clock.now() * placesPerPosition, (before?.sequence ?? 0) + 1);
      const sequence = position > 0 ? exact : byClock;
      last.set(sessionId, { sequence, position, place });
      pending.push({ sessionId, sequence, turnId: null, kind: item.kind, text: item.text, at: clock.now() });
      if (pending.length === 1) void serial.run(write).catch(onError);
    },
    flush: () => serial.run(write),
  };
}
