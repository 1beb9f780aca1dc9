import type { StemmaClient } from '../client/stemma-client.ts';
import type { WaitOptions } from '../client/wait.ts';
import type { WaitAnswer } from '../contract/execution.ts';
import { follow, readSnapshot, type Snapshot } from './follow.ts';

/**
 * As `waitUntilClosed`, for a run: there is no long poll for one, so its events tell when it has ended. When the time is
 * up, the answer says what holds the message at which it stands.
 */
export async function waitForRun(
  client: StemmaClient,
  id: string,
  options: WaitOptions = {},
): Promise<WaitAnswer> {
  const { timeoutMs, signal = new AbortController().signal } = options;
  const target = { kind: 'run', id } as const;
  let latest = await readSnapshot(client, target, undefined, signal);
  if (latest.isEnded || timeoutMs === 0) return answerOf(latest);
  options.onStillOpen?.(answerOf(latest));
  const tooLate = new AbortController();
  const cancelTimer =
    timeoutMs === undefined
      ? undefined
      : client.clock.after(timeoutMs, () => tooLate.abort(new Error('the time is up')));
  try {
    await follow(client, target, AbortSignal.any([signal, tooLate.signal]), {
      onSnapshot(snapshot) {
        latest = snapshot;
        if (!snapshot.isEnded) options.onStillOpen?.(answerOf(snapshot));
      },
      ...(options.onGone ? { onGone: options.onGone } : {}),
    });
  } catch (thrown) {
    if (signal.aborted || !tooLate.signal.aborted) throw thrown;
  } finally {
    cancelTimer?.();
  }
  return answerOf(latest);
}

function answerOf({ run, trees, isEnded }: Snapshot): WaitAnswer {
  if (isEnded) return { closed: true, outcome: run?.outcome, outcomeCode: run?.outcomeCode };
  return { closed: false, holding: trees.find((tree) => !tree.closed)?.holding };
}
