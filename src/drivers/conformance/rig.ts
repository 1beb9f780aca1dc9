import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Ids, SessionId } from '../../base/ids.ts';
import { pause, waitUntil } from '../../base/pause.ts';
import type {
  AgentProfile,
  Conversation,
  Driver,
  DriverEvent,
  Opened,
  OpenRequest,
  PrepareLaunch,
  Probe,
  SendOutcome,
} from '../port.ts';
import { Contract } from './contract.ts';
import { eventLine, resultLine } from './evidence-lines.ts';
import { processesIn } from './processes-in.ts';
import type { Behaviour, FaultyProfiles, Prompts } from './prompts.ts';
import { CaseFailed, CaseSkipped, check } from './report.ts';
import type { TestTools } from './test-tools.ts';

/** What a check was given, the same for each case. */
export interface RigOptions {
  readonly driver: Driver;
  readonly profile: AgentProfile;
  readonly clock: Clock;
  readonly directory: string;
  readonly prompts: Prompts;
  readonly faulty: FaultyProfiles;
  /** For cases about questions. */
  readonly asking: AgentProfile;
  readonly tools: TestTools | undefined;
  readonly signal: AbortSignal;
  /** How long one thing may take that an agent must do. Milliseconds. */
  readonly patienceMs: number;
  readonly prepareLaunch: PrepareLaunch | undefined;
  /** Where ids come from. */
  readonly ids: Ids;
}

// The port's bound, and what ending a process may take.
const probeMs = 12_000;
const leftBehindMs = 5000;

type Ended = Extract<DriverEvent, { type: 'turnEnded' }>;

/** One case's agent: a session of its own, every call and event written down, and the contract watched throughout. */
export class Rig {
  readonly driver: Driver;
  readonly profile: AgentProfile;
  readonly prompts: Prompts;
  readonly faulty: FaultyProfiles;
  readonly asking: AgentProfile;
  readonly tools: TestTools | undefined;
  /** What happened, a line for each call and event. */
  readonly evidence: string[] = [];
  /** Events of every conversation of this case, oldest first. */
  readonly events: DriverEvent[] = [];
  readonly #options: RigOptions;
  readonly #directory: string;
  readonly #sessionId: SessionId;
  readonly #delivered = new Set<string>();
  readonly #contracts: Contract[] = [];
  readonly #living = new Set<Conversation>();
  #lastId: string | undefined;
  #nativeId: string | undefined;
  readonly #cwd: string;
  readonly #beside: Rig[] = [];

  /** `cwd`: the agent's working directory, where that is not the case's own. */
  constructor(name: string, options: RigOptions, cwd?: string) {
    this.#options = options;
    this.driver = options.driver;
    this.profile = options.profile;
    this.prompts = options.prompts;
    this.faulty = options.faulty;
    this.asking = options.asking;
    this.tools = options.tools;
    this.#directory = join(options.directory, name);
    this.#cwd = cwd ?? this.#directory;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.#sessionId = options.ids.make('session');
  }

  /** Another conversation in the same working directory. It is closed with this one. */
  beside(): Rig {
    const other = new Rig(join(basename(this.#directory), 'beside'), this.#options, this.#cwd);
    this.#beside.push(other);
    return other;
  }

  /** The prompt for this behaviour, which the case needs. */
  prompt(behaviour: Behaviour): string {
    const text = this.prompts[behaviour];
    check(text !== undefined, `the case does not say that it needs "${behaviour}"`);
    return text;
  }

  /** Looks for the program, within the bound that the port sets. */
  async probe(): Promise<Probe> {
    const began = this.#options.clock.monotonic();
    const found = await this.call('probe', () => this.driver.probe(this.profile));
    check(this.#options.clock.monotonic() - began < probeMs, 'the probe took more than ten seconds');
    return found;
  }

  /** Opens, with what a server would know after everything so far. */
  async tryOpen(more: Partial<OpenRequest> = {}): Promise<Opened> {
    const contract = new Contract(this.#delivered, this.#position());
    const request: OpenRequest = {
      sessionId: this.#sessionId,
      profile: this.profile,
      cwd: this.#cwd,
      directory: this.#directory,
      position: this.#position(),
      unresolved: this.#unresolved(),
      ...(this.#options.prepareLaunch ? { prepareLaunch: this.#options.prepareLaunch } : {}),
      ...(this.#nativeId === undefined ? {} : { nativeId: this.#nativeId }),
      ...(this.tools === undefined ? {} : { tools: this.tools }),
      emit: (event) => {
        this.events.push(event);
        this.evidence.push(eventLine(event));
        contract.see(event);
      },
      ...more,
    };
    contract.assumeRunning(this.#contracts.at(-1)?.running() ?? []);
    this.#contracts.push(contract);
    const opened = await this.call('open', () => this.driver.open(request));
    if (!opened.ok) return opened;
    // What the old process did to its end is told while the next one is opened.
    if (opened.how !== 'adopted') contract.expectNewProcess();
    this.#nativeId = opened.conversation.nativeId;
    this.#living.add(opened.conversation);
    return opened;
  }

  /** Opens and fails the case when that fails. */
  async open(more: Partial<OpenRequest> = {}): Promise<Conversation> {
    const opened = await this.tryOpen(more);
    check(opened.ok, `open failed: ${opened.ok ? '' : opened.message}`);
    return opened.conversation;
  }

  /** A call across the port: it is written down, it must not throw, and it must come back. */
  async call<T>(name: string, act: () => Promise<T>): Promise<T> {
    let outcome: { readonly value: T } | { readonly thrown: unknown } | undefined;
    act().then(
      (value) => {
        outcome = { value };
      },
      (thrown: unknown) => {
        outcome = { thrown };
      },
    );
    await this.until(() => outcome !== undefined, `${name} to come back`);
    if (!outcome || 'thrown' in outcome) throw new CaseFailed(`${name} threw: ${String(outcome?.thrown)}`);
    this.evidence.push(`${name} → ${resultLine(outcome.value)}`);
    return outcome.value;
  }

  /** Sends a text that begins a turn. Returns its delivery id and what the driver said. */
  async send(
    conversation: Conversation,
    text: string,
  ): Promise<{ id: string; outcome: SendOutcome['outcome'] }> {
    const id = this.newId();
    const { outcome } = await this.call(`start ${id}`, () => conversation.start({ id, text }));
    return { id, outcome };
  }

  /** The same for a behaviour; the text must have been written. */
  async begin(conversation: Conversation, behaviour: Behaviour): Promise<string> {
    const { id, outcome } = await this.send(conversation, this.prompt(behaviour));
    check(outcome === 'written', `start must write into an idle agent; it was ${outcome}`);
    return id;
  }

  /** A new delivery id, known to the contract as sent. */
  newId(): string {
    const id = `${this.#options.ids.make('turn')}#1`;
    this.#delivered.add(id);
    this.#lastId = id;
    return id;
  }

  /** Waits for the turn that began with this text; its native id. */
  async started(id: string): Promise<string> {
    const find = (): string | undefined =>
      this.events.flatMap((event) =>
        event.type === 'turnStarted' && event.deliveryId === id ? [event.nativeTurnId] : [],
      )[0];
    await this.until(() => find() !== undefined, `the turn of ${id} to start`);
    return find() ?? '';
  }

  /** Waits for the end of the turn that began with this text. */
  async ended(id: string): Promise<Ended> {
    const turn = await this.started(id);
    const find = (): Ended | undefined => this.ends().find((event) => event.nativeTurnId === turn);
    await this.until(() => find() !== undefined, `turn ${turn} to end`);
    const found = find();
    check(found !== undefined, `turn ${turn} did not end`);
    return found;
  }

  /** Every end of a turn so far. */
  ends(): Ended[] {
    return this.events.filter((event) => event.type === 'turnEnded');
  }

  /** How many events of this type came so far. */
  count(type: DriverEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }

  /** Waits for a condition, as long as the check is patient. */
  async until(condition: () => boolean, what: string): Promise<void> {
    const { clock, patienceMs, signal } = this.#options;
    const holds = await waitUntil(clock, condition, patienceMs, signal);
    if (!holds && signal.aborted) throw new CaseSkipped('the check was stopped');
    check(holds, `waited ${patienceMs} ms for ${what}`);
  }

  /** Lets so much time pass, to see that something does not happen. */
  async pass(ms: number): Promise<void> {
    await pause(this.#options.clock, ms, this.#options.signal);
  }

  /** Waits until nothing was told for half a second and no turn runs: what goes on by itself has shown itself. */
  async quiet(): Promise<void> {
    for (let seen = -1; seen !== this.events.length; ) {
      seen = this.events.length;
      await this.pass(500);
      await this.until(() => !this.#contracts.at(-1)?.running().length, 'the agent to be idle');
    }
  }

  /** Runs a whole simple turn: the conversation is of use. */
  async useIt(conversation: Conversation): Promise<void> {
    const id = await this.begin(conversation, 'simple');
    const end = await this.ended(id);
    check(end.status === 'succeeded', `a simple turn ended as ${end.status}`);
  }

  /** Leaves the agent alone; from now on no event may come. */
  async detach(conversation: Conversation): Promise<void> {
    await this.call('detach', () => conversation.detach());
    this.#living.delete(conversation);
    this.#contracts.at(-1)?.expectSilence('detach returned');
  }

  /** Ends the agent, which must be dead then; from now on no event may come. */
  async end(conversation: Conversation): Promise<void> {
    const outcome = await this.call('end', () => conversation.end());
    this.#living.delete(conversation);
    this.#contracts.at(-1)?.expectSilence('end returned');
    check(outcome === 'dead', 'the agent survived its end');
  }

  /** Ends what lives. Returns what the contract was violated by. Call it once, last. */
  async close(): Promise<string[]> {
    for (const conversation of [...this.#living]) {
      try {
        await this.end(conversation);
      } catch (error) {
        this.evidence.push(`the agent could not be ended: ${String(error)}`);
      }
    }
    const others = await Promise.all(this.#beside.map((other) => other.close()));
    this.tools?.onCall(undefined);
    const violations = this.#contracts.flatMap((contract) => contract.violations);
    return [...violations, ...others.flat(), ...(await this.#leftBehind())];
  }

  /** Whatever still runs in the directory of the case was started by an agent that was said to be dead. */
  async #leftBehind(): Promise<string[]> {
    const { clock } = this.#options;
    await waitUntil(clock, () => processesIn(this.#directory).length === 0, leftBehindMs);
    return processesIn(this.#directory).map(
      (what) => `the agent was ended, and still there is process ${what}`,
    );
  }

  /** The text whose turn has not ended: as for a server, its fate is open until then, even if its start was told. */
  #unresolved(): string[] {
    const id = this.#lastId;
    if (id === undefined) return [];
    const turns = this.events.flatMap((event) =>
      event.type === 'turnStarted' && event.deliveryId === id ? [event.nativeTurnId] : [],
    );
    return this.ends().some((end) => turns.includes(end.nativeTurnId)) ? [] : [id];
  }

  #position(): number {
    return this.events.at(-1)?.position ?? 0;
  }
}
