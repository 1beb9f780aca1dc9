import type { VirtualClock } from '../../src/base/virtual-clock.ts';
import type { Ids, SessionId } from '../../src/base/ids.ts';
import type { TurnLimits } from '../../src/ledger/line.ts';
import { SimulatedAgent } from './agent.ts';
import type { AgentKind } from './agent-kinds.ts';
import type { Choices } from './choices.ts';
import type { Flows } from './flows.ts';
import type { Budgets, Gates } from './scheduler.ts';
import type { Truth } from './truth.ts';
import type { Violations } from './violations.ts';

/** Everything that outlives our server, and what the actors of a history share. */
export interface World {
  readonly choices: Choices;
  readonly budgets: Budgets;
  readonly gates: Gates;
  readonly clock: VirtualClock;
  readonly ids: Ids;
  readonly truth: Truth;
  readonly violations: Violations;
  readonly agents: Map<SessionId, SimulatedAgent>;
  /** The kind of every agent of this history, by the name of its profile. */
  readonly kinds: ReadonlyMap<string, AgentKind>;
  /** Asked for by persons, deadlines or budgets: without one of these nothing may end as cancelled. */
  readonly asked: {
    cancels: number;
    givenUp: number;
    /** How often a run was told to go on. */
    reruns: number;
    readonly interrupted: Set<SessionId>;
    readonly stopped: Set<SessionId>;
    /** Sub-agents that whoever started them wanted to end. */
    readonly stoppedChildren: Set<string>;
  };
  /** Facts that excuse what would otherwise be a violation. */
  readonly facts: { isConversationGone: boolean; isHung: boolean; isClockSet: boolean };
  /** Persons who interfere more than others do: many texts into running turns, many cancellations. */
  readonly isCrowded: boolean;
  /** Agents tell what they use, and some messages have a budget that is soon exceeded. */
  readonly isCosting: boolean;
  /** Messages of runs have templates, and are tried again when they fail; ended runs go on. */
  readonly isRetrying: boolean;
  /** The wall clock is set, forward and back, and the machine sleeps. */
  readonly isClockSet: boolean;
  /** How many turns may run at once: what the server that lives now was started with. */
  readonly limited: { readonly isOn: boolean; limits: TurnLimits | undefined };
  /** All runs want one directory, each alone. */
  readonly isAlone: boolean;
  /** Agents give out work: what they launch in a turn comes back at once. */
  readonly isGiving: boolean;
  /** Agents launch workflows that have steps. */
  readonly isWorking: boolean;
  readonly flows: Flows;
  note(line: string): void;
  /** Noted only when somebody wants to read everything. */
  detail(line: () => string): void;
  /** `w1`, `w2`, …: labels are unique in a history and are the names that the ledger sees. */
  label(prefix: 'w' | 't' | 'p'): string;
}

/** The agent of a session. It comes into being when it is first asked for. */
export function agentOf(world: World, sessionId: SessionId, kind: AgentKind): SimulatedAgent {
  const known = world.agents.get(sessionId);
  if (known) return known;
  const agent = new SimulatedAgent(`A${world.agents.size}`, sessionId, kind, world.truth, world.isCosting);
  world.agents.set(sessionId, agent);
  return agent;
}
