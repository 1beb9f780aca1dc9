import { z } from 'zod';
import type { AgentError } from '../port.ts';
import type { CodexError } from './wire.ts';

const withHttpStatus = z.record(z.string(), z.object({ httpStatusCode: z.number().nullish() }));

/**
 * What a failed turn means for whoever waits: a usage limit and a lost sign-in pass, anything else is the agent's own
 * failure. `resetsAt` is what the provider last said of its limits, UTC milliseconds.
 */
export function toAgentError(error: CodexError, resetsAt: number | undefined): AgentError {
  const { message, codexErrorInfo: info } = error;
  if (info === 'usageLimitExceeded' || info === 'rateLimitExceeded') {
    return { kind: 'capacity', message, ...(resetsAt === undefined ? {} : { resetsAt }) };
  }
  if (info === 'unauthorized' || httpStatusOf(info) === 401) return { kind: 'login', message };
  return { kind: 'agent', message };
}

function httpStatusOf(info: unknown): number | undefined {
  const read = withHttpStatus.safeParse(info);
  return read.success ? (Object.values(read.data)[0]?.httpStatusCode ?? undefined) : undefined;
}
