import type { Execution } from './execution.ts';
import type { Notice } from './notice.ts';

/** A result longer than this is cut in the text; the whole stays readable by `get_execution`. In characters. */
export const resultBound = 16_384;

/**
 * The text of one notice. Its first line is the contract `[stemma ntc_… #EPOCH] NAME STATE (exe_…)`. The line is for the
 * reader: what was delivered is proved by the delivery's id, never by finding such a line in a text.
 */
export function noticeText(
  notice: Pick<Notice, 'id' | 'handedAt'>,
  epoch: number,
  of: Execution,
  bound: number = resultBound,
): string {
  const head = `[stemma ${notice.id} #${epoch}] ${oneLine(of.name)} ${of.state} (${of.id})`;
  const again =
    notice.handedAt !== null ? ['(delivered again: the turn that was to handle it did not succeed)'] : [];
  const error = of.error ? [`${of.error.code}: ${of.error.message}`] : [];
  const by = of.state === 'cancelled' && of.cancelRequested ? [`cancelled by ${who(of)}`] : [];
  const result = of.result ? [bounded(of.result, of, bound)] : [];
  return [head, ...again, ...by, ...error, ...result].join('\n');
}

function who(of: Execution): string {
  const { actor, reason } = of.cancelRequested ?? {};
  // What we end ourselves has a reason that the agent can go by.
  if (actor?.kind === 'system' && reason) return `system: ${reason}`;
  return actor?.name ? `${actor.kind} ${actor.name}` : (actor?.kind ?? 'somebody');
}

function bounded(text: string, of: Execution, bound: number): string {
  if (text.length <= bound) return text;
  const cut = text.slice(0, bound);
  return `${cut}\n(cut after ${bound} of ${text.length} characters; get_execution ${of.id} has all of it)`;
}

function oneLine(name: string): string {
  return name.replace(/\s+/g, ' ').trim();
}
