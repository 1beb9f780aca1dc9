import type { AgentError } from '../port.ts';

const limitWords =
  /^429\b|\b429 |rate.?limit|usage.?limit|quota|too many requests|resource.?exhausted|insufficient.?(funds|balance|credit)|billing/i;
const loginWords =
  /^401\b|^403\b|\b401 |no api key|authentication|unauthori[sz]ed|invalid.?api.?key|api key (is )?(invalid|not valid|expired)|credentials|\/login/i;

/** What an error message of pi means. It passes on the words of many providers, mostly with the HTTP status in front. */
export function readAgentError(message: string): AgentError {
  const said = message === '' ? 'pi failed without a message' : message;
  if (limitWords.test(message)) return { kind: 'capacity', message: said };
  if (loginWords.test(message)) return { kind: 'login', message: said };
  return { kind: 'agent', message: said };
}
