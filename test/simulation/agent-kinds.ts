import type { Capabilities } from '../../src/drivers/port.ts';

/** How one kind of agent program behaves, as far as its driver may count on it. */
export interface AgentKind {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Refuses a text that would begin a turn while it is at work; the others queue it, or take it into the running turn. */
  readonly refusesWhenBusy: boolean;
  /** A steered text lives and dies with its turn: taken up before a normal end, dropped by an interruption. */
  readonly bindsSteerToTurn: boolean;
  /** Can be told to end its background work alone. */
  readonly stopsTasks: boolean;
  /** Has a screen of its own, at which persons type. */
  readonly hasScreen: boolean;
}

const common = { turnEnd: 'protocol', resume: 'always', limits: true, usage: 'cost' } as const;

/** No steering, no background work, tool calls known by their order only. */
const plain: AgentKind = {
  name: 'plain',
  refusesWhenBusy: true,
  bindsSteerToTurn: false,
  stopsTasks: false,
  hasScreen: false,
  capabilities: {
    ...common,
    steer: 'none',
    negativeProof: 'none',
    backgroundTasks: false,
    wakesByItself: false,
    promptCancelsBackground: false,
    locatesCalls: 'byOrder',
  },
};

/** Steers that the end of the turn decides; background work whose end it is told like any other result. */
const turnBound: AgentKind = {
  name: 'turnBound',
  refusesWhenBusy: false,
  bindsSteerToTurn: true,
  stopsTasks: false,
  hasScreen: true,
  capabilities: {
    ...common,
    steer: 'proven',
    negativeProof: 'turnEnd',
    backgroundTasks: true,
    wakesByItself: false,
    promptCancelsBackground: false,
    locatesCalls: 'byId',
  },
};

/** A queue that outlives turns, texts that can be withdrawn from it, and background work for which it wakes by itself. */
const queueing: AgentKind = {
  name: 'queueing',
  refusesWhenBusy: false,
  bindsSteerToTurn: false,
  stopsTasks: true,
  hasScreen: true,
  capabilities: {
    ...common,
    steer: 'proven',
    negativeProof: 'withdraw',
    backgroundTasks: true,
    wakesByItself: true,
    promptCancelsBackground: false,
    locatesCalls: 'byId',
  },
};

/** The same, with tool calls known by their order only. */
const queueingByOrder: AgentKind = {
  ...queueing,
  name: 'queueingByOrder',
  capabilities: { ...queueing.capabilities, locatesCalls: 'byOrder' },
};

/** Every kind of agent that histories are made with; the simplest first. */
export const agentKinds: readonly AgentKind[] = [plain, turnBound, queueing, queueingByOrder];
