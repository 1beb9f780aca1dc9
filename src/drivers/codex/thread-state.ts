import type { LiveTask, Usage } from '../port.ts';
import type { CodexError } from './wire.ts';

/** What is known of one thread. Immutable; `reduce` makes the next one. */
export interface ThreadState {
  readonly threadId: string;
  /** The turn that runs, as far as the stream was read. */
  readonly turn: RunningTurn | undefined;
  /** Turns whose end was seen, newest last; the newest few hundred. */
  readonly ended: readonly string[];
  /** The text that we are starting a turn with; `turnId` once Codex named it. */
  readonly starting: { readonly deliveryId: string; readonly turnId?: string } | undefined;
  /** Texts whose fate matters, and the turn in which each was taken up, if it was: ours, and what persons typed. */
  readonly deliveries: ReadonlyMap<string, string | undefined>;
  /** Commands that run, of the thread and of its sub-agents, by item id. */
  readonly commands: ReadonlyMap<string, OpenCommand>;
  /** Threads of sub-agents, with a name for people. */
  readonly agents: ReadonlyMap<string, string>;
  /** Turns of sub-agents that run, by their own turn id. */
  readonly agentTurns: ReadonlyMap<string, AgentTurn>;
  /** Turns of sub-agents whose end was seen, newest last. */
  readonly endedAgentTurns: readonly string[];
  /** Background work that was reported and has not ended, by task id (an item id, or the turn id of a sub-agent). */
  readonly tasks: ReadonlyMap<string, LiveTask>;
  /** When the account's exhausted limits reset, UTC milliseconds. */
  readonly resetsAt: number | undefined;
  /** Of the newest event. */
  readonly position: number;
}

/** The thread's turn that runs. */
export interface RunningTurn {
  readonly id: string;
  /** Whether `turnStarted` was emitted. Until then it is not clear whose text began the turn. */
  readonly isAnnounced: boolean;
  readonly deliveryId?: string;
  /** The last thing the agent said after the last thing it did. */
  readonly answer: string;
  /** Items that were completed, so that the record can be read again without repeating them. */
  readonly completed: ReadonlySet<string>;
  readonly error?: CodexError;
  readonly usage?: Usage;
  /** Token counts of the thread before this turn's first request. */
  readonly usageBefore?: { readonly inputTokens: number; readonly outputTokens: number };
}

/** A command that was started and has not ended, with the thread and turn in which it began. */
export interface OpenCommand {
  readonly threadId: string;
  readonly turnId: string;
  readonly name: string;
}

/** A turn of a sub-agent, which is a thread of its own. */
export interface AgentTurn {
  readonly threadId: string;
  /** The turn of the main thread that this work goes back to, if Codex says. */
  readonly rootTurnId: string | undefined;
  readonly answer: string;
}

/** A thread of which nothing is known yet. `position`: everything up to it was processed before. */
export function newThreadState(
  threadId: string,
  position: number,
  unresolved: readonly string[],
): ThreadState {
  return {
    threadId,
    turn: undefined,
    ended: [],
    starting: undefined,
    deliveries: new Map(unresolved.map((id) => [id, undefined])),
    commands: new Map(),
    agents: new Map(),
    agentTurns: new Map(),
    endedAgentTurns: [],
    tasks: new Map(),
    resetsAt: undefined,
    position,
  };
}

/** Positions of one turn: its start, its items in order of their completion, its end. */
export const positionsPerTurn = 2000;

/**
 * The position of a turn's start. Turn ids are UUIDs of version 7, whose first 48 bits are milliseconds, so a position
 * can be computed again from the record alone. Undefined for an id of another kind.
 */
export function turnPosition(turnId: string): number | undefined {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(turnId);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) * positionsPerTurn : undefined;
}

/** Whether this turn runs, has ended, or is not known to the stream so far. */
export function opinionOn(state: ThreadState, turnId: string): 'running' | 'ended' | undefined {
  if (state.turn?.id === turnId) return state.turn.isAnnounced ? 'running' : undefined;
  return state.ended.includes(turnId) ? 'ended' : undefined;
}

const deliveriesKept = 1000;

/** The state once a text is on its way, so that it is recognised when the agent takes it up. */
export function withDelivery(state: ThreadState, deliveryId: string): ThreadState {
  if (state.deliveries.has(deliveryId)) return state;
  return { ...state, deliveries: bounded(new Map(state.deliveries).set(deliveryId, undefined)) };
}

/** The texts once one of them, ours or a person's, was taken up in a turn. */
export function withTaken(
  deliveries: ThreadState['deliveries'],
  id: string,
  turnId: string,
): ThreadState['deliveries'] {
  return bounded(new Map(deliveries).set(id, turnId));
}

/** Forgets the oldest of those whose fate is known, beyond the newest thousand. */
function bounded(deliveries: Map<string, string | undefined>): ThreadState['deliveries'] {
  const settled = [...deliveries].filter(([, turnId]) => turnId !== undefined);
  for (const [id] of settled.slice(0, Math.max(0, settled.length - deliveriesKept))) deliveries.delete(id);
  return deliveries;
}
