import { ask } from '../ledger/questions.ts';
import type { Tree } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';

/** So many sessions of a tree are looked at. */
const mostSessions = 100;

/**
 * The agents of a tree that do not tell what they leave running in the background, by name: it is no part of the tree, and
 * does not hold it.
 */
export async function unseenIn(
  { store, agents }: Pick<ApplicationContext, 'store' | 'agents'>,
  { executions }: Tree,
): Promise<string[]> {
  const sessionIds = [...new Set(executions.flatMap(({ runsIn }) => runsIn ?? []))].slice(0, mostSessions);
  const names = new Set<string>();
  for (const id of sessionIds) {
    const session = await store.read(() => ask('session', id));
    if (session) names.add(session.agent);
  }
  const tellsNothing = (name: string): boolean =>
    agents.find(name)?.driver.capabilities.backgroundTasks === false;
  return [...names].filter(tellsNothing).sort();
}
