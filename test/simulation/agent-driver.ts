import type {
  Conversation,
  Delivery,
  Driver,
  Evidence,
  Located,
  Opened,
  OpenRequest,
  SendOutcome,
  ToolCall,
} from '../../src/drivers/port.ts';
import type { AgentProcess, SimulatedAgent, ToolCallInFlight } from './agent.ts';
import type { AgentKind } from './agent-kinds.ts';
import type { Action } from './scheduler.ts';
import { progress } from './scheduler.ts';
import { readText } from './texts.ts';
import { agentOf } from './world.ts';
import type { World } from './world.ts';

/** Told of every text at the moment at which the server hands it out. */
export type OnHandOut = (agent: SimulatedAgent, delivery: Delivery) => void;

/** The conversations that one server process has open. */
export class SimulatedDrivers {
  readonly #world: World;
  readonly #onHandOut: OnHandOut;
  readonly #open = new Set<SimulatedConversation>();

  constructor(world: World, onHandOut: OnHandOut) {
    this.#world = world;
    this.#onHandOut = onHandOut;
  }

  driverOf(kind: AgentKind): Driver {
    return {
      kind: kind.name,
      capabilities: kind.capabilities,
      honours: [],
      probe: () => Promise.resolve({ found: true, warnings: [] }),
      open: (request) => this.#openFor(kind, request),
    };
  }

  /** Reading the next event of any agent's stream. */
  actions(): Action[] {
    return [...this.#open].flatMap((conversation) => conversation.actions());
  }

  async #openFor(kind: AgentKind, request: OpenRequest): Promise<Opened> {
    const world = this.#world;
    const agent = agentOf(world, request.sessionId, kind);
    await world.gates.pass(`${agent.label}: open`);
    if (agent.process?.isAlive) return this.#adopt(agent, agent.process, request);
    if (request.adoptOnly) return { ok: false, code: 'NOT_RUNNING', message: 'nothing lives' };
    if (world.budgets.has('openFailures') && world.choices.chance(30)) return this.#fail();
    const how = agent.record.size > 0 ? 'resumed' : 'started';
    const conversation = new SimulatedConversation(world, agent.begin(), request, this.#onHandOut);
    this.#add(conversation);
    return { ok: true, how, conversation };
  }

  #adopt(agent: SimulatedAgent, process: AgentProcess, request: OpenRequest): Opened {
    const conversation = new SimulatedConversation(this.#world, process, request, this.#onHandOut);
    conversation.skipTo(request.position);
    conversation.readAll();
    this.#add(conversation);
    this.#world.note(`  ${agent.label} is adopted`);
    return { ok: true, how: 'adopted', conversation };
  }

  #fail(): Opened {
    this.#world.budgets.spend('openFailures');
    const code = this.#world.choices.pick(['AGENT_FAILED', 'SESSION_GONE', 'AGENT_UNAVAILABLE'] as const);
    this.#world.note(`  the conversation cannot be opened: ${code}`);
    if (code !== 'AGENT_FAILED') this.#world.facts.isConversationGone = true;
    return { ok: false, code, message: 'it could not be opened' };
  }

  #add(conversation: SimulatedConversation): void {
    this.#open.add(conversation);
  }
}

/** One server's view of one agent process: requests take their time, events are read one by one. */
class SimulatedConversation implements Conversation {
  readonly nativeId: string;
  readonly stopTasks?: () => Promise<void>;
  readonly #world: World;
  readonly #process: AgentProcess;
  readonly #emit: OpenRequest['emit'];
  readonly #onHandOut: OnHandOut;
  #read = 0;
  #isOver = false;
  /** The turn that runs, as far as the stream was read. */
  #running: string | undefined;
  /** Texts that were sent and have not arrived: nobody may call them absent. */
  readonly #inTransit = new Set<string>();

  constructor(world: World, process: AgentProcess, request: OpenRequest, onHandOut: OnHandOut) {
    this.nativeId = `native-${process.agent.label}`;
    this.#world = world;
    this.#process = process;
    this.#emit = request.emit;
    this.#onHandOut = onHandOut;
    if (process.agent.kind.stopsTasks) this.stopTasks = () => this.#stopTasks();
  }

  actions(): Action[] {
    const next = this.#process.stream[this.#read];
    if (this.#isOver || !next) return [];
    const of = 'nativeTurnId' in next ? ` ${next.nativeTurnId}` : '';
    return [progress(`${this.#label}: the server reads ${next.type}${of}`, () => this.#readNext(), 14)];
  }

  /** What lies at or before this position is known. */
  skipTo(position: number): void {
    for (const event of this.#process.stream) {
      if (event.position > position) return;
      this.#note(event);
      this.#read++;
    }
  }

  readAll(): void {
    this.#readTo(this.#process.stream.length);
  }

  async start(delivery: Delivery): Promise<SendOutcome> {
    return this.#send(delivery, 'start');
  }

  async steer(delivery: Delivery, nativeTurnId?: string): Promise<SendOutcome> {
    return this.#send(delivery, 'steer', nativeTurnId);
  }

  async #send(delivery: Delivery, as: 'start' | 'steer', expected?: string): Promise<SendOutcome> {
    const what = readText(delivery.text, this.#process.agent.truth.labels)
      .map((one) => one.label)
      .join('+');
    this.#onHandOut(this.#process.agent, delivery);
    this.#inTransit.add(delivery.id);
    await this.#world.gates.pass(`${this.#label}: ${as} ${what}`);
    this.#inTransit.delete(delivery.id);
    const outcome = this.#arrive(delivery, as, expected);
    if (outcome.outcome !== 'written') this.#world.note(`  ${outcome.outcome}`);
    return outcome;
  }

  #arrive(delivery: Delivery, as: 'start' | 'steer', expected: string | undefined): SendOutcome {
    const { budgets, choices } = this.#world;
    const { kind } = this.#process.agent;
    if (!this.#process.isAlive) return { outcome: 'refused', reason: 'the process is dead' };
    if (budgets.has('refusals') && choices.chance(30)) {
      budgets.spend('refusals');
      return { outcome: 'refused', reason: 'not now' };
    }
    const isBusy = this.#process.activity !== undefined || this.#process.inbox.length > 0;
    if (as === 'start' && kind.refusesWhenBusy && isBusy) return { outcome: 'refused', reason: 'busy' };
    // It names the turn that it is for, and no other takes it.
    const hasTurn = expected !== undefined && this.#process.activity?.nativeTurnId === expected;
    if (as === 'steer' && kind.bindsSteerToTurn && !hasTurn)
      return { outcome: 'refused', reason: 'no turn to steer' };
    if (budgets.has('uncertain') && choices.chance(30)) {
      budgets.spend('uncertain');
      const arrives = choices.chance(50);
      if (arrives) this.#process.accept(delivery.id, delivery.text, as);
      this.#world.note(arrives ? '  it arrives' : '  it does not arrive');
      return { outcome: 'uncertain', reason: 'no answer in time' };
    }
    this.#process.accept(delivery.id, delivery.text, as);
    return { outcome: 'written' };
  }

  async withdraw(deliveryId: string): Promise<'withdrawn' | 'taken' | 'unknown'> {
    await this.#world.gates.pass(`${this.#label}: withdraw`);
    const process = this.#process;
    if (process.agent.kind.capabilities.negativeProof !== 'withdraw' || !process.isAlive) return 'unknown';
    if (process.agent.record.has(deliveryId)) return 'taken';
    if (this.#inTransit.has(deliveryId)) return 'unknown';
    if (this.#world.budgets.has('silences') && this.#world.choices.chance(50)) {
      this.#world.budgets.spend('silences');
      return 'unknown';
    }
    process.inbox = process.inbox.filter((held) => held.deliveryId !== deliveryId);
    return 'withdrawn';
  }

  async interrupt(nativeTurnId?: string): Promise<'asked' | 'idle' | 'unknown'> {
    await this.#world.gates.pass(`${this.#label}: interrupt`);
    if (!this.#process.isAlive) return 'unknown';
    const at = this.#process.activity?.nativeTurnId;
    if (at === undefined || (nativeTurnId !== undefined && nativeTurnId !== at)) return 'idle';
    this.#process.isInterruptAsked = true;
    return 'asked';
  }

  async evidence(deliveryId: string): Promise<Evidence> {
    if (!this.#isOver) await this.#world.gates.pass(`${this.#label}: look for a text`);
    this.readAll();
    const nativeTurnId = this.#process.agent.record.get(deliveryId);
    if (nativeTurnId !== undefined) return { state: 'consumed', nativeTurnId };
    const isHeld = this.#process.inbox.some((held) => held.deliveryId === deliveryId);
    const isOnItsWay = this.#process.isAlive && this.#inTransit.has(deliveryId);
    return { state: isHeld || isOnItsWay ? 'queued' : 'absent' };
  }

  /** Reads the stream up to the call, however far it was read; calls without an id are told by what runs then. */
  async locate(call: ToolCall): Promise<Located> {
    const made = call.meta['call'] as ToolCallInFlight;
    if (this.#process.agent.kind.capabilities.locatesCalls === 'byOrder') {
      this.readAll();
      return this.#running === undefined
        ? { state: 'ended' }
        : { state: 'running', nativeTurnId: this.#running };
    }
    this.#readTo(made.place);
    if (made.nativeTurnId === undefined) return { state: 'unknown' };
    const isRunning = made.nativeTurnId === this.#running;
    return isRunning ? { state: 'running', nativeTurnId: made.nativeTurnId } : { state: 'ended' };
  }

  answer(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async #stopTasks(): Promise<void> {
    await this.#world.gates.pass(`${this.#label}: stop the tasks`);
    for (const label of [...this.#process.tasks.keys()]) {
      const work = this.#world.truth.works.get(label);
      if (work) this.#process.endTask(work, 'cancelled');
    }
  }

  async detach(): Promise<void> {
    this.#isOver = true;
  }

  async end(): Promise<'dead' | 'unkillable'> {
    await this.#world.gates.pass(`${this.#label}: end the process`);
    const { budgets, choices } = this.#world;
    if (budgets.has('unkillables') && choices.chance(50)) {
      budgets.spend('unkillables');
      return 'unkillable';
    }
    this.#process.die('ended by the server');
    // A driver may still tell what it reads while it waits for the death.
    if (choices.chance(50)) this.readAll();
    this.#isOver = true;
    return 'dead';
  }

  get #label(): string {
    return this.#process.agent.label;
  }

  #readTo(place: number): void {
    // A call may come from an earlier process, whose stream was another.
    const end = Math.min(place, this.#process.stream.length);
    while (this.#read < end && !this.#isOver) this.#readNext();
  }

  #readNext(): void {
    const event = this.#process.stream[this.#read++];
    if (!event) return;
    this.#note(event);
    this.#process.read = Math.max(this.#process.read, this.#read);
    if (event.type === 'exited') this.#isOver = true;
    this.#emit(event);
  }

  #note(event: AgentProcess['stream'][number] | undefined): void {
    if (event?.type === 'turnStarted') this.#running = event.nativeTurnId;
    if (event?.type === 'turnEnded' && event.nativeTurnId === this.#running) this.#running = undefined;
  }
}
