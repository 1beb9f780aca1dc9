import type { AgentView } from '../../../../src/contract/session.ts';

/** How it stands with the program of an agent: what a person has to do about it, if anything. */
export interface AgentStanding {
  readonly tone: 'good' | 'wait' | 'bad' | 'quiet';
  readonly words: string;
}

/** Says how it stands with an agent, as far as a look at its program found. */
export function standingOf({ check }: AgentView): AgentStanding {
  if (!check) return { tone: 'quiet', words: 'not looked at yet' };
  if (!check.found) return { tone: 'quiet', words: 'its program is not installed' };
  if (check.signedIn === 'no') return { tone: 'bad', words: 'nobody is signed in' };
  if (check.warnings.length > 0) return { tone: 'wait', words: 'there, with warnings' };
  return check.signedIn === 'unknown'
    ? { tone: 'good', words: 'there; whether somebody is signed in is not seen' }
    : { tone: 'good', words: 'ready' };
}

const order: readonly AgentStanding['tone'][] = ['bad', 'wait', 'good', 'quiet'];

/** Those that need somebody first, then those that are ready, then those that are not installed; by name. */
export function bySignIn(agents: readonly AgentView[]): AgentView[] {
  const rank = (agent: AgentView): number => order.indexOf(standingOf(agent).tone);
  return [...agents].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

/** What a profile says, by name, in the order in which people ask; what it does not say is left out. */
export function factsOf(agent: AgentView): readonly { readonly name: string; readonly value: string }[] {
  const facts: [string, string | undefined][] = [
    ['Command', agent.command.join(' ')],
    ['Model', agent.model],
    ['Effort', agent.effort],
    ['Only version', agent.version],
    ['Home', agent.home],
    ['Sandbox', agent.sandbox],
    ['Network', agent.network],
    ['Asked', agent.onQuestion],
    ['Usage', agent.usage],
    ['Secrets', agent.secrets?.join(', ')],
  ];
  return facts.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [{ name, value }]));
}
