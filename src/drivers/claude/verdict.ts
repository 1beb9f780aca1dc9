import type { AgentError, Usage } from '../port.ts';
import type { RunningTurn, Verdict } from './state.ts';
import type { ResultSignal } from './wire.ts';

const signIn = new Set(['authentication_failed', 'oauth_org_not_allowed', 'cloud_credential_error']);
const limits = new Set(['rate_limit', 'billing_error', 'overloaded']);

/** What a result says of its turn. `resetsAt`: of the limit that is exhausted; `usdBefore`: what the conversation had cost. */
export function verdictOf(
  result: ResultSignal,
  turn: RunningTurn,
  known: { readonly usdBefore: number | undefined; readonly resetsAt: number | undefined },
): Verdict {
  const answer = result.isError ? turn.answer : (result.text ?? turn.answer);
  const usage = usageOf(result, known.usdBefore);
  const used = usage === undefined ? {} : { usage };
  // An aborted stream is no error in the agent's eyes, an aborted tool is.
  if (result.terminal?.startsWith('aborted')) return { status: 'interrupted', answer, ...used };
  if (!result.isError) return { status: 'succeeded', answer, ...used };
  return { status: 'failed', answer: '', error: errorOf(result, turn.error, known.resetsAt), ...used };
}

/** Whether the provider refuses because something is used up, or wants to be signed in to. */
export function kindOfError(error: string | undefined, status: number | undefined): AgentError['kind'] {
  if (status === 401 || status === 403 || signIn.has(error ?? '')) return 'login';
  if (status === 429 || status === 529 || limits.has(error ?? '')) return 'capacity';
  return 'agent';
}

function errorOf(result: ResultSignal, spoken: string | undefined, resetsAt: number | undefined): AgentError {
  const said = result.text ?? result.errors.join('; ');
  const message = said.trim() === '' ? 'The agent failed without a reason.' : said;
  const kind = kindOfError(spoken, result.apiStatus);
  return { kind, message, ...(kind !== 'capacity' || resetsAt === undefined ? {} : { resetsAt }) };
}

function usageOf(result: ResultSignal, usdBefore: number | undefined): Usage | undefined {
  const { inputTokens, outputTokens, usd } = result;
  // A total that fell was begun anew.
  const before = usd !== undefined && usdBefore !== undefined && usdBefore <= usd ? usdBefore : 0;
  const usage = {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(usd === undefined ? {} : { usd: usd - before }),
  };
  return Object.keys(usage).length === 0 ? undefined : usage;
}
