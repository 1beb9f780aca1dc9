import { parseJson } from '../../base/parse-json.ts';
import type { AgentError } from '../port.ts';
import { brief, type RpcError } from './messages.ts';

// RequestError.authRequired of the SDK.
const authRequired = -32000;
// A bare 429 may be a count of anything.
const limitWords =
  /rate.?limit|usage.?limit|quota|too many requests|resource.?exhausted|(?:status|http)(?: code)?\W{0,2}429\b/i;

/**
 * What a JSON-RPC error of a prompt means. Agents agree on no shape for usage limits: claude-agent-acp says
 * `data.errorKind: rate_limit`, others give an HTTP status or only words.
 */
export function readAgentError(error: RpcError): AgentError {
  // Gemini CLI gives the provider's answer as it came: JSON where the message belongs.
  const data = [...flatten(error.data), ...flatten(parseJson(error.message))];
  const status = firstNumber(data, ['status', 'statusCode', 'httpStatus', 'code']) ?? leadingStatus(data);
  const kind = firstText(data, ['errorKind', 'kind', 'type', 'errorType']);
  const message = readableMessage(error, data);
  if (error.code === authRequired || status === 401 || kind === 'auth_required')
    return { kind: 'login', message };
  const isLimit =
    status === 429 || error.code === 429 || limitWords.test(kind ?? '') || limitWords.test(message);
  if (!isLimit) return { kind: 'agent', message };
  const resetsAt = readInstant(data);
  return { kind: 'capacity', message, ...(resetsAt === undefined ? {} : { resetsAt }) };
}

/** Agents often put "Internal error" where the message belongs, and the message into the data. */
function readableMessage({ code, message, data: raw }: RpcError, data: readonly [string, unknown][]): string {
  const details = typeof raw === 'string' ? raw : firstText(data, ['details', 'detail', 'message', 'error']);
  const said = message === '' ? `the agent answered with error ${code}` : message;
  return details === undefined || said.includes(details) ? said : `${said}: ${brief(details, 500)}`;
}

/** The data itself and what is one level below it, nearest first: some agents wrap the provider's error. */
function flatten(data: unknown): [string, unknown][] {
  if (typeof data !== 'object' || data === null) return [];
  const own = Object.entries(data);
  const inner = own.flatMap(([, value]) =>
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
  return [...own, ...inner];
}

/** OpenAI's library, and so Qwen Code, says "401 Incorrect API key": the status first, then the provider's words. */
function leadingStatus(data: readonly [string, unknown][]): number | undefined {
  const said = firstText(data, ['details', 'detail', 'message', 'error']) ?? '';
  const status = /^([45]\d\d) \S/.exec(said)?.[1];
  return status === undefined ? undefined : Number(status);
}

function firstNumber(data: readonly [string, unknown][], names: readonly string[]): number | undefined {
  const found = data.find(([key, value]) => names.includes(key) && typeof value === 'number');
  return found?.[1] as number | undefined;
}

function firstText(data: readonly [string, unknown][], names: readonly string[]): string | undefined {
  const found = data.find(([key, value]) => names.includes(key) && typeof value === 'string');
  return found?.[1] as string | undefined;
}

/** Only an instant counts: a relative delay in a stream that is read again after a restart would mean another time. */
function readInstant(data: readonly [string, unknown][]): number | undefined {
  const names = ['resetsAt', 'resets_at', 'resetAt', 'reset_at'];
  const value = data.find(([key]) => names.includes(key))?.[1];
  if (typeof value === 'number' && Number.isFinite(value))
    return value < 100_000_000_000 ? value * 1000 : value;
  const parsed = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}
