import type { AgentError } from '../port.ts';
import type { OpencodeError } from './signal.ts';

/**
 * What a failed turn means for whoever waits: a usage limit and a lost sign-in pass, anything else is the agent's own failure.
 */
export function toAgentError({ name, message, status, resetsAt }: OpencodeError): AgentError {
  if (name === 'ProviderAuthError' || status === 401) return { kind: 'login', message };
  if (status === 429) return { kind: 'capacity', message, ...(resetsAt === undefined ? {} : { resetsAt }) };
  return { kind: 'agent', message };
}
