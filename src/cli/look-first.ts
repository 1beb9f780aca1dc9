import { StemmaError } from '../base/errors.ts';
import type { StemmaClient } from '../client/stemma-client.ts';
import type { CliContext } from './context.ts';
import type { AgentFound } from './ports.ts';
import { plainLine } from '../words/text.ts';

/** How long a message waits for a look at its agent; a slower look is not worth that. Milliseconds. */
const beforeSendingMs = 3_000;

/**
 * Looks for the program of an agent before a message is sent to it: says what its driver warns of, such as a sign-in
 * that is missing, and throws `AGENT_UNAVAILABLE` when it is not there. `name`: absent means the server's default.
 */
export async function lookFirst(context: CliContext, client: StemmaClient, name?: string): Promise<void> {
  // Whatever cannot be known about an agent beforehand, its server says when it is used.
  const items = await client.call('listAgents').then(
    (page) => page.items,
    () => [],
  );
  const agent = items.find((item) => (name === undefined ? item.isDefault === true : item.name === name));
  // To look at an ACP agent is to start it, which the message itself does.
  if (!agent || agent.driver === 'acp') return;
  const seen = await lookAt(client, agent.name, beforeSendingMs).catch(() => undefined);
  if (!seen) return;
  const warnings = seen.warnings.map(plainLine);
  if (!seen.found) {
    const why = warnings.length === 0 ? '' : `: ${warnings.join('; ')}`;
    const text = `The agent ${plainLine(agent.name)} cannot be started${why}. Nothing was sent.`;
    throw new StemmaError('AGENT_UNAVAILABLE', text, { agent: agent.name, command: agent.command });
  }
  for (const warning of warnings) context.talk(`warning: ${plainLine(agent.name)}: ${warning}`);
}

/** What the server finds of an agent's program; undefined when that takes longer than `withinMs`. */
async function lookAt(
  client: StemmaClient,
  id: string,
  withinMs: number,
): Promise<Omit<AgentFound, 'driver'> | undefined> {
  const late = new AbortController();
  const cancel = client.clock.after(withinMs, () => late.abort());
  try {
    const { name: _, ...found } = await client.call('checkAgent', { id, signal: late.signal });
    return found;
  } catch (thrown) {
    if (late.signal.aborted) return undefined;
    throw thrown;
  } finally {
    cancel();
  }
}
