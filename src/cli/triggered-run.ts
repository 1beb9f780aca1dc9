import { StemmaError } from '../base/errors.ts';
import { pauseOrThrow } from '../base/pause.ts';
import type { StemmaClient } from '../client/stemma-client.ts';
import type { Occurrence } from '../contract/schedule.ts';
import type { CliContext } from './context.ts';
import { plainLine } from '../words/text.ts';

/** How often it is asked whether a triggered run has begun, in milliseconds: first, and at most. */
const firstGapMs = 50;
const longestGapMs = 2_000;

/**
 * Triggers a schedule and resolves with its run once that has begun: it may wait for another one, or for a precondition.
 * Throws `OVERLAP` or `ILLEGAL_STATE` with the reason when it does not begin, and the signal's reason.
 */
export async function triggerAndWait(
  context: CliContext,
  client: StemmaClient,
  id: string,
  signal: AbortSignal,
): Promise<string> {
  const { runId, instant, state, reason } = await client.call('triggerSchedule', { id, body: {}, signal });
  if (context.isJson) context.document({ event: 'started', runId, instant, state, reason });
  else context.talk(`run ${runId}${reason === undefined ? '' : ` (${state}: ${plainLine(reason)})`}`);
  let told = reason;
  for (let gapMs = firstGapMs; ; gapMs = Math.min(gapMs * 2, longestGapMs)) {
    const found = await occurrenceAt(client, id, instant, signal);
    if (found?.state === 'ran') return found.runId ?? runId;
    if (found && isOver(found)) throw notBegun(id, found);
    if (found?.reason !== undefined && found.reason !== told && !context.isJson)
      context.talk(`${found.state}: ${plainLine(found.reason)}`);
    told = found?.reason ?? told;
    await pauseOrThrow(context.deps.clock, gapMs, signal);
  }
}

/** The one that was triggered, however many came behind it: the list goes from the latest instant to the earliest. */
async function occurrenceAt(
  client: StemmaClient,
  id: string,
  instant: string,
  signal: AbortSignal,
): Promise<Occurrence | undefined> {
  let page: { readonly items: readonly Occurrence[]; readonly nextCursor?: string | undefined };
  let cursor: string | undefined;
  do {
    const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) };
    page = await client.call('listOccurrences', { id, query, signal });
    const found = page.items.find((item) => item.instant === instant);
    if (found) return found;
    cursor = page.nextCursor;
  } while (cursor !== undefined && !page.items.some((item) => item.instant < instant));
  return undefined;
}

function isOver({ state }: Occurrence): boolean {
  return state === 'skipped' || state === 'missed' || state === 'expired' || state === 'superseded';
}

function notBegun(id: string, { state, reason = '', instant }: Occurrence): StemmaError {
  const message = `The run of ${plainLine(id)} was not begun: ${state}${reason === '' ? '' : ` (${plainLine(reason)})`}.`;
  return new StemmaError(reason.startsWith('overlap') ? 'OVERLAP' : 'ILLEGAL_STATE', message, {
    state,
    reason,
    instant,
  });
}
