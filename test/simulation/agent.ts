import type { SessionId } from '../../src/base/ids.ts';
import type { DriverEvent, LiveTask, TypedText, Usage } from '../../src/drivers/port.ts';
import type { AgentKind } from './agent-kinds.ts';
import type { LaunchingTool } from './launching-tools.ts';
import type { Child, GivingTool } from './orchestrators.ts';
import type { CanCall, Carried } from './texts.ts';
import { readText } from './texts.ts';
import type { Activity, Truth, Work, Worker } from './truth.ts';

/** A text that the agent has accepted and not taken up. */
export interface HeldText {
  readonly deliveryId: string;
  readonly carried: Carried[];
  readonly as: 'start' | 'steer';
}

/** A tool call on its way to the server, on a channel of its own. */
export interface ToolCallInFlight {
  readonly work: Work;
  /** The turn that made it; undefined when a background task did. */
  readonly nativeTurnId: string | undefined;
  /** How much the agent had written to its event stream when it made the call. */
  readonly place: number;
  /** The tool; absent: whatever launches something. */
  readonly tool: GivingTool | LaunchingTool | undefined;
  stage: 'sent' | 'handling';
}

/** Because of what an agent begins. */
interface Why {
  readonly deliveryId?: string;
  readonly taskId?: string;
  readonly typed?: TypedText;
}

type Unplaced = DriverEvent extends infer Event
  ? Event extends DriverEvent
    ? Omit<Event, 'position'>
    : never
  : never;

/** The conversation of one session as its agent keeps it: it outlives every process, theirs and ours. */
export class SimulatedAgent implements Worker {
  readonly label: string;
  readonly sessionId: SessionId;
  readonly kind: AgentKind;
  readonly truth: Truth;
  /** Whether it tells what it uses. */
  readonly isCosting: boolean;
  /** The agent's own record: which text was taken up in which turn. */
  readonly record = new Map<string, string>();
  process: AgentProcess | undefined;
  /** Whom it can call, since it was told last. */
  calls: CanCall | undefined;
  /** What it chooses, since it was asked to. */
  says: string | undefined;
  /** What it has given out, as far as it had an answer. */
  readonly children: Child[] = [];
  /** The workflows that it has launched, as far as it had an answer. */
  readonly workflows: Child[] = [];
  turns = 0;
  /** How much it has told, over all its processes. */
  position = 0;

  constructor(label: string, sessionId: SessionId, kind: AgentKind, truth: Truth, isCosting: boolean) {
    this.label = label;
    this.sessionId = sessionId;
    this.kind = kind;
    this.truth = truth;
    this.isCosting = isCosting;
    truth.workers.push(this);
  }

  begin(): AgentProcess {
    this.process = new AgentProcess(this);
    return this.process;
  }

  pendingTexts(): readonly Carried[][] {
    return this.process?.inbox.map((held) => held.carried) ?? [];
  }

  activityNow(): Activity | undefined {
    return this.process?.activity;
  }
}

/** What a turn has used: so much for each text that it took up, and for its answer. */
function usageOf({ carried, wokenBy }: Activity, outputTokens: number): Usage {
  return { inputTokens: 10 * (carried.length + wokenBy.length), outputTokens, usd: carried.length / 100 };
}

/** A living process of an agent: what it does by its own rules, and the stream in which it tells about it. */
export class AgentProcess {
  readonly agent: SimulatedAgent;
  readonly stream: DriverEvent[] = [];
  /** Every background task that it ever began. */
  readonly begun: string[] = [];
  readonly tasks = new Map<string, LiveTask>();
  /** Background tasks that have begun without a word about it yet. */
  readonly untold = new Set<string>();
  /** Background tasks that have ended, and for which it will wake. */
  readonly wakes: string[] = [];
  inbox: HeldText[] = [];
  calls: ToolCallInFlight[] = [];
  activity: Activity | undefined;
  isAlive = true;
  isHung = false;
  isWaiting = false;
  isInterruptAsked = false;
  /** Answers that its turn waits for. */
  asking = 0;
  /** How much of its stream some server has read. */
  read = 0;
  readonly #wakePlaces = new Map<string, number>();
  constructor(agent: SimulatedAgent) {
    this.agent = agent;
  }

  tell(event: Unplaced): void {
    this.stream.push({ ...event, position: ++this.agent.position } as DriverEvent);
  }

  accept(deliveryId: string, text: string, as: HeldText['as']): void {
    this.inbox.push({ deliveryId, carried: readText(text, this.agent.truth.labels), as });
  }

  /** What it may take up now: a text for a new turn only when idle, unless it lets texts into the running turn. */
  takeable(): HeldText | undefined {
    const { kind } = this.agent;
    if (this.isHung || this.isWaiting) return undefined;
    if (this.activity === undefined && kind.bindsSteerToTurn)
      return this.inbox.find((held) => held.as === 'start');
    return this.inbox[0];
  }

  take(held: HeldText): void {
    this.inbox = this.inbox.filter((other) => other !== held);
    const { deliveryId, carried } = held;
    if (this.activity === undefined) this.#begin({ deliveryId }, false);
    else this.tell({ type: 'taken', nativeTurnId: this.activity.nativeTurnId, deliveryId });
    const activity = this.activity as Activity | undefined;
    if (!activity) return;
    activity.carried.push(...carried);
    for (const one of carried) if (one.kind === 'message' && one.calls) this.agent.calls = one.calls;
    this.agent.record.set(deliveryId, activity.nativeTurnId);
    this.agent.truth.take(this.agent.sessionId, carried);
    if (this.agent.isCosting)
      this.tell({ type: 'usage', nativeTurnId: activity.nativeTurnId, usage: usageOf(activity, 0) });
  }

  /** Begins to work because a background task has ended, or takes that into the running turn. */
  wakeFor(label: string): void {
    this.wakes.splice(this.wakes.indexOf(label), 1);
    const running = this.activity;
    if (running) this.tell({ type: 'turnStarted', nativeTurnId: running.nativeTurnId, taskId: label });
    else this.#begin({ taskId: label }, false);
    this.#wakePlaces.set(label, this.stream.length);
    this.activity?.wokenBy.push(label);
    this.agent.truth.wake(label);
  }

  /** A person types at its screen: it begins by it, or takes it into the running turn. */
  hear(label: string): void {
    this.agent.truth.typed.add(label);
    const typed = { id: `typed-${label}`, text: label };
    const running = this.activity;
    if (running) this.tell({ type: 'typed', nativeTurnId: running.nativeTurnId, typed });
    else this.#begin({ typed }, false);
    const carried: Carried[] = [{ kind: 'message', isMarkedAgain: false, label }];
    this.activity?.carried.push(...carried);
    this.agent.truth.take(this.agent.sessionId, carried);
  }

  /** Begins to work without anything that it was told. */
  stray(): void {
    this.#begin({}, true);
  }

  #begin(why: Why, isLate: boolean): void {
    const nativeTurnId = `${this.agent.label}.n${++this.agent.turns}`;
    this.activity = { nativeTurnId, carried: [], wokenBy: [], isLate };
    this.tell({ type: 'turnStarted', nativeTurnId, ...why });
  }

  /** Is idle again. An agent that binds steers to turns takes them all up before an end that is its own. */
  finish(
    status: 'succeeded' | 'failed' | 'interrupted',
    error?: 'agent' | 'capacity' | 'login',
    resetsAt?: number,
    answer?: string,
  ): void {
    const { kind, truth } = this.agent;
    if (kind.bindsSteerToTurn) {
      const bound = this.inbox.filter((held) => held.as === 'steer');
      if (status !== 'interrupted') bound.forEach((held) => this.take(held));
      this.inbox = this.inbox.filter((held) => held.as === 'start');
    }
    const { activity } = this;
    if (!activity) return;
    this.activity = undefined;
    this.isWaiting = false;
    this.isInterruptAsked = false;
    this.#abortCalls(activity);
    truth.finish(activity, status === 'succeeded');
    this.tell({
      type: 'turnEnded',
      nativeTurnId: activity.nativeTurnId,
      status,
      answer: answer ?? `answer of ${activity.nativeTurnId}`,
      tasks: [...this.tasks.values()],
      ...(this.agent.isCosting ? { usage: usageOf(activity, 5) } : {}),
      ...(error
        ? {
            error: {
              kind: error,
              message: `the ${error} failed`,
              ...(resetsAt === undefined ? {} : { resetsAt }),
            },
          }
        : {}),
    });
  }

  /** Nobody waits for the answer of a call whose turn is over. Without an id in the call it does not even go out. */
  #abortCalls(activity: Activity): void {
    if (this.agent.kind.capabilities.locatesCalls === 'byOrder')
      this.#dropCalls((call) => call.nativeTurnId === activity.nativeTurnId);
    for (const call of this.calls) {
      if (call.nativeTurnId === activity.nativeTurnId && call.work.stage === 'calling')
        call.work.stage = 'never';
    }
  }

  /** Calls that have not arrived never will. */
  #dropCalls(isDropped: (call: ToolCallInFlight) => boolean): void {
    const dropped = this.calls.filter((call) => isDropped(call) && call.stage === 'sent');
    for (const call of dropped) call.work.stage = 'never';
    this.calls = this.calls.filter((call) => !dropped.includes(call));
  }

  call(work: Work, nativeTurnId: string | undefined, tool?: ToolCallInFlight['tool']): void {
    this.calls.push({ work, nativeTurnId, place: this.stream.length, tool, stage: 'sent' });
  }

  startTask(label: string): void {
    this.tasks.set(label, { taskId: label, name: label });
    this.untold.add(label);
    this.begun.push(label);
  }

  tellTask(label: string): void {
    this.untold.delete(label);
    this.tell({ type: 'taskStarted', task: { taskId: label, name: label } });
  }

  endTask(work: Work, status: 'succeeded' | 'failed' | 'cancelled'): void {
    this.#dropCalls((call) => call.work.cause === work.label);
    if (this.untold.has(work.label)) this.tellTask(work.label);
    this.tasks.delete(work.label);
    work.stage = 'ended';
    this.tell({ type: 'taskEnded', taskId: work.label, status, result: `result of ${work.label}` });
    if (this.agent.kind.capabilities.wakesByItself) this.wakes.push(work.label);
  }

  /** The process is dead: its turn, its queue, its tasks and its calls with it. The record stays. */
  die(reason: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.activity = undefined;
    this.inbox = [];
    for (const call of this.calls) if (call.work.stage === 'calling') call.work.stage = 'never';
    this.calls = this.calls.filter((call) => call.stage === 'handling');
    // Background work of which nobody has heard when it dies: nobody can ever hear of it.
    for (const label of this.begun) {
      const work = this.agent.truth.works.get(label);
      if (work) work.stage = work.isKnown ? 'ended' : 'never';
    }
    this.tasks.clear();
    // Nobody saw it wake for these, and it left nothing that says so.
    const unseen = [...this.#wakePlaces].filter(([, place]) => place > this.read).map(([label]) => label);
    this.agent.truth.forgetWakes(unseen);
    this.tell({ type: 'exited', reason });
  }
}
