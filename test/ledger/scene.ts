import type { ExecutionId, RunId, SessionId, SteerId, TurnId } from '../../src/base/ids.ts';
import { FreshIds } from '../../src/base/ids.ts';
import type { Advance } from '../../src/ledger/advance.ts';
import type { CancelledRun, Cancelling } from '../../src/ledger/cancel.ts';
import type { NewMessage } from '../../src/ledger/enqueue.ts';
import type { Actor, Execution, SettledState } from '../../src/ledger/execution.ts';
import type { LaneTaken } from '../../src/ledger/lane.ts';
import type { Launch } from '../../src/ledger/launch.ts';
import type { TurnLimits } from '../../src/ledger/line.ts';
import { newSession } from '../../src/ledger/session.ts';
import type { PlannedMessage, Run, RunOrigin, Session } from '../../src/ledger/session.ts';
import type { UsageTold } from '../../src/ledger/spending.ts';
import type { Orchestration } from '../../src/ledger/step-plan.ts';
import type { AgentEnded } from '../../src/ledger/turn-end.ts';
import type { AgentStarted } from '../../src/ledger/turn-start.ts';
import type { Steer, Turn } from '../../src/ledger/turn.ts';
import type { Call } from './calls.ts';
import { node } from './choice.ts';
import type { Came } from './moment.ts';
import { SceneView } from './scene-view.ts';
import { existing } from './state.ts';

const person: Actor = { kind: 'person', name: 'ann' };

/** A plan of messages with these texts. */
export function planOf(texts: readonly string[], given: Partial<PlannedMessage> = {}): PlannedMessage[] {
  const rest = {
    timeoutMs: 60_000,
    onFailure: 'stop',
    join: 'own',
    check: null,
    background: 'wait',
  } as const;
  return texts.map((text) => ({ ...rest, text, ...given }));
}

/**
 * A ledger in memory and the words to tell a trace in: what people, agents and programs do to it, and what it then says.
 * Every invariant is checked after every call, unless a test takes a rule away.
 */
export class Scene extends SceneView {
  #names = 0;

  /** Lets time pass, in milliseconds. */
  wait(ms: number): void {
    this.model.clock.advance(ms);
  }

  /** Makes a call, which must not be refused. */
  async do<Value>(call: Call): Promise<Value> {
    const came = await this.#call(call);
    if (came.as === 'decided') return came.value as Value;
    throw came.as === 'thrown' ? came.error : new Error(`${call.rule} was refused: ${came.code}`);
  }

  /** Makes a call, which must be refused, and answers the code. */
  async refused(call: Call): Promise<string> {
    const came = await this.#call(call);
    if (came.as === 'thrown') throw came.error;
    return came.as === 'refused' ? came.code : `not refused: ${JSON.stringify(came.value)}`;
  }

  async #call(call: Call): Promise<Came> {
    const came = await this.model.call(call);
    this.wait(1);
    return came;
  }

  fresh(): FreshIds {
    return new FreshIds(this.model.ids);
  }

  /** Opens a session. */
  async session(agent = 'demo'): Promise<SessionId> {
    const session = this.#newSession(agent);
    await this.do({ rule: 'openSession', command: { now: this.now, session } });
    return session.id;
  }

  /** A person's message. */
  async message(
    sessionId: SessionId,
    given: Partial<NewMessage> & { readonly whenBusy?: 'queue' | 'steer' } = {},
  ): Promise<ExecutionId> {
    const { whenBusy = 'queue', ...more } = given;
    const id = this.model.ids.make('execution');
    const message = { id, sessionId, text: `message ${++this.#names}`, ...more };
    await this.do({ rule: 'enqueue', command: { now: this.now, whenBusy, message } });
    return id;
  }

  /** Looks what is due in a session: the turn that now holds the lane, or undefined. */
  async lane(sessionId: SessionId): Promise<Turn | undefined> {
    const { limits } = this.model;
    const command = { now: this.now, sessionId, node, limits, fresh: this.fresh() };
    const taken = await this.do<LaneTaken>({ rule: 'takeLane', command });
    return taken.taken ? taken.turn : undefined;
  }

  /** The agent begins: by itself, or on a text. Answers its own name for the turn. */
  async begins(
    sessionId: SessionId,
    about: Pick<AgentStarted, 'deliveryId' | 'taskId' | 'typed'> = {},
  ): Promise<string> {
    const nativeTurnId = `native ${++this.#names}`;
    const command = {
      now: this.now,
      sessionId,
      nativeTurnId,
      position: 0,
      node,
      ...about,
      fresh: this.fresh(),
    };
    await this.do({ rule: 'agentStarted', command });
    return nativeTurnId;
  }

  /** What is due is sent, and the agent begins it. Answers the agent's own name for the turn. */
  async runs(sessionId: SessionId): Promise<string> {
    const turn = await this.lane(sessionId);
    if (!turn) throw new Error(`nothing is due in ${sessionId}`);
    return this.begins(sessionId, { deliveryId: turn.id });
  }

  /** A message is sent to a session and its agent works on it. */
  async running(
    sessionId: SessionId,
    given: Partial<NewMessage> = {},
  ): Promise<{ id: ExecutionId; native: string }> {
    const id = await this.message(sessionId, given);
    return { id, native: await this.runs(sessionId) };
  }

  /** The agent is idle again. */
  async ends(
    sessionId: SessionId,
    nativeTurnId: string,
    how: Partial<Omit<AgentEnded, 'tasks'>> & { readonly tasks?: readonly string[] } = {},
  ): Promise<'ended' | 'ignored'> {
    const { tasks = [], ...more } = how;
    const command: AgentEnded = {
      now: this.now,
      sessionId,
      nativeTurnId,
      status: 'succeeded',
      answer: 'done',
      tasks: tasks.map((taskId) => ({ taskId, name: taskId })),
      position: 0,
      endIsNegativeProof: true,
      fresh: this.fresh(),
      ...more,
    };
    return this.do({ rule: 'agentEnded', command });
  }

  /** The agent fails its turn. */
  fails(sessionId: SessionId, native: string, error: Partial<AgentEnded['error']> = {}): Promise<string> {
    const full = { code: 'AGENT_FAILED', message: 'it failed', ...error };
    return this.ends(sessionId, native, { status: 'failed', error: full });
  }

  /** The call of a launch by the agent of a session, from a turn of this name. */
  launching(sessionId: SessionId, nativeTurnId: string, given: Partial<Launch> = {}): Call {
    const call = { state: 'running', nativeTurnId, byId: true } as const;
    const id = this.model.ids.make('execution');
    const about = { now: this.now, id, kind: 'workflow', name: `work ${++this.#names}` } as const;
    return { rule: 'launch', command: { ...about, caller: { by: 'session', sessionId, call }, ...given } };
  }

  /** The agent of a session launches something in its turn. */
  async launch(
    sessionId: SessionId,
    nativeTurnId: string,
    given: Partial<Launch> = {},
  ): Promise<ExecutionId> {
    const made = await this.do<{ execution: Execution }>(this.launching(sessionId, nativeTurnId, given));
    return made.execution.id;
  }

  /** The agent launches a background agent with a session and a plan of its own. */
  async launchAgent(
    sessionId: SessionId,
    nativeTurnId: string,
    plan: readonly PlannedMessage[],
    tells: UsageTold = 'cost',
    todo: Orchestration | null = null,
  ): Promise<{ id: ExecutionId; sessionId: SessionId; run: Run }> {
    const runId = this.model.ids.make('run');
    const session = this.#newSession();
    const hosts = { session, runId, plan, todo, tells } as const;
    const id = await this.launch(sessionId, nativeTurnId, { kind: 'agent', hosts });
    return { id, sessionId: session.id, run: existing(this.model.state.runs, runId) };
  }

  /** A program launches below an execution. */
  async program(executionId: ExecutionId, given: Partial<Launch> = {}): Promise<ExecutionId> {
    const caller = { by: 'execution', executionId } as const;
    const id = this.model.ids.make('execution');
    const command = {
      now: this.now,
      id,
      kind: 'outside',
      name: `program ${++this.#names}`,
      caller,
      ...given,
    } as const;
    await this.do({ rule: 'launch', command });
    return id;
  }

  /** Something that a program runs ends. */
  async settle(id: ExecutionId, state: SettledState = 'succeeded', result = 'its result'): Promise<void> {
    const error = state === 'failed' ? { code: 'AGENT_FAILED', message: 'it failed' } : null;
    const noticeId = this.model.ids.make('notice');
    await this.do({
      rule: 'settle',
      command: { now: this.now, id, noticeId, ending: { state, result, error } },
    });
  }

  /** Claims what may be steered into the running turn, and says that it was written. */
  async steer(sessionId: SessionId): Promise<Steer | undefined> {
    const steer = await this.claim(sessionId);
    if (steer) await this.resolve(steer.id, 'written');
    return steer;
  }

  /** Claims what may be steered into the running turn. */
  claim(sessionId: SessionId): Promise<Steer | undefined> {
    return this.do({ rule: 'claimSteer', command: { now: this.now, sessionId, fresh: this.fresh() } });
  }

  /** What became of a claim. */
  resolve(steerId: SteerId, what: 'written' | 'refused' | 'withdrawn'): Promise<boolean> {
    return this.do({ rule: 'resolveSteer', command: { now: this.now, steerId, what } });
  }

  /** The agent takes a steered text up. */
  takes(sessionId: SessionId, nativeTurnId: string, deliveryId: string): Promise<string> {
    const command = {
      now: this.now,
      sessionId,
      nativeTurnId,
      deliveryId,
      position: 0,
      node,
      fresh: this.fresh(),
    };
    return this.do({ rule: 'agentTook', command });
  }

  /** The agent takes up what a person typed at its screen. */
  hears(sessionId: SessionId, nativeTurnId: string, id: string, text = 'typed'): Promise<string> {
    const typed = { id, text };
    const about = { now: this.now, sessionId, nativeTurnId, typed, position: 0, node };
    return this.do({ rule: 'agentTyped', command: { ...about, fresh: this.fresh() } });
  }

  /** A text provably never got to its agent. */
  sendFails(turnId: TurnId, isFinal = false, code = 'AGENT_UNAVAILABLE'): Promise<boolean> {
    const error = { code, message: 'it never got there' };
    return this.do({
      rule: 'sendFailed',
      command: { now: this.now, turnId, error, isFinal, fresh: this.fresh() },
    });
  }

  /** The process of a session is dead. */
  dies(sessionId: SessionId): Promise<boolean> {
    return this.do({
      rule: 'agentExited',
      command: { now: this.now, sessionId, reason: 'it died', fresh: this.fresh() },
    });
  }

  /** A person stops a session. */
  async stop(sessionId: SessionId): Promise<void> {
    const request = { actor: person, at: this.now };
    await this.do({ rule: 'stopSession', command: { now: this.now, sessionId, request } });
  }

  /** Background work of an agent ends. */
  taskEnds(sessionId: SessionId, taskId: string, wakesByItself = true): Promise<boolean> {
    const about = { sessionId, taskId, status: 'succeeded', result: 'built', wakesByItself } as const;
    return this.do({ rule: 'taskEnded', command: { now: this.now, ...about, fresh: this.fresh() } });
  }

  /** The agent is told within a turn that background work has ended. */
  isToldOfTask(sessionId: SessionId, nativeTurnId: string, taskId: string): Promise<string> {
    const about = { now: this.now, sessionId, nativeTurnId, taskId, position: 0, node };
    return this.do({ rule: 'agentToldOfTask', command: { ...about, fresh: this.fresh() } });
  }

  /** A person cancels something and all below it. */
  cancel(id: ExecutionId, actor: Actor = person, verdict = 'CANCELLED'): Promise<Cancelling> {
    const request = { actor, at: this.now };
    return this.do({ rule: 'cancel', command: { now: this.now, id, request, verdict, fresh: this.fresh() } });
  }

  /** A person cancels a run. */
  cancelRun(id: RunId): Promise<CancelledRun> {
    const request = { actor: person, at: this.now };
    return this.do({ rule: 'cancelRun', command: { now: this.now, id, request, fresh: this.fresh() } });
  }

  /** The server starts with these limits. Answers how many sessions it called. */
  limit(limits: TurnLimits | undefined): Promise<number> {
    return this.do({ rule: 'callNext', command: { now: this.now, limits } });
  }

  /** A run in a session, or without one, by a schedule or with a budget where that is said; in a directory that it has alone, if one is named. */
  async run(
    sessionId: SessionId | null,
    plan: readonly PlannedMessage[],
    origin: Partial<RunOrigin> = {},
    alone?: string,
  ): Promise<Run> {
    const id = this.model.ids.make('run');
    const workspace = alone && {
      workspace: { how: 'exclusive', from: alone, path: alone, lock: alone, checkout: null } as const,
    };
    const about = {
      now: this.now,
      id,
      project: 'default',
      name: 'a run',
      sessionId,
      plan,
      origin,
      ...workspace,
    };
    await this.do({ rule: 'beginRun', command: about });
    return existing(this.model.state.runs, id);
  }

  /** The runner looks whether a run may go on. */
  advance(
    run: Run,
    moves = existing(this.model.state.runs, run.id).moves,
    filled: Pick<Advance, 'text' | 'inputs' | 'repairText'> = {},
  ): Promise<string> {
    const command = { now: this.now, id: run.id, moves, ...filled, fresh: this.fresh() };
    return this.do({ rule: 'advance', command });
  }

  #newSession(agent = 'demo'): Session {
    const about = {
      id: this.model.ids.make('session'),
      project: 'default',
      agent,
      cwd: '/',
      title: null,
      node,
    };
    return newSession({ ...about, createdAt: this.now });
  }
}
