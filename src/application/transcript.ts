import type { Clock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { Serial } from '../base/serial.ts';
import type { Records, TranscriptItem } from '../store/records.ts';
import type { TranscriptSink } from '../turns/ports.ts';

/** Most items that wait to be stored; beyond them what is shown of a session has a gap, and the work goes on. */
const pendingLimit = 10_000;

/** Keeps what was said, in the order in which it was said. A replayed item finds its place taken and is left out. */
export function createTranscript(
  records: Records,
  clock: Clock,
  onError: (error: unknown) => void,
): TranscriptSink & { flush(): Promise<void> } {
  const serial = new Serial();
  let pending: TranscriptItem[] = [];
  const last = new Map<SessionId, number>();
  const write = async (): Promise<void> => {
    const items = pending;
    pending = [];
    if (items.length > 0) await records.appendTranscript(items);
  };
  return {
    append(sessionId, position, item) {
      if (pending.length >= pendingLimit) return;
      const before = last.get(sessionId) ?? 0;
      // An agent without a stream of positions is ordered by the clock.
      const sequence = Math.max(position > 0 ? position : clock.now(), before + 1);
      last.set(sessionId, sequence);
      pending.push({ sessionId, sequence, turnId: null, kind: item.kind, text: item.text, at: clock.now() });
      if (pending.length === 1) void serial.run(write).catch(onError);
    },
    flush: () => serial.run(write),
  };
}
