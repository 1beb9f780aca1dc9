import type { CancelTimer, Clock } from '../../base/clock.ts';
import { Serial } from '../../base/serial.ts';
import { pause } from '../../base/pause.ts';
import type { DriverReport, OpenRequest } from '../port.ts';
import { Barrier } from './barrier.ts';
import { readMissed } from './catch-up.ts';
import type { Floor } from './floor.ts';
import { type Call, History, Unreadable } from './history.ts';
import { Questions } from './questions.ts';
import { readRollout } from './rollout.ts';
import type { Route } from './routes.ts';
import type { Answer } from './rpc-client.ts';
import type { ServerLink } from './server-link.ts';
import { loadMs, threadSettings } from './settings.ts';
import { recordedTasks, type ThreadRecord, toolsFingerprint, writeThreadRecord } from './thread-record.ts';
import type { ThreadState } from './thread-state.ts';
import { clearQueue, hearAgent, livingCommands, watchAgent } from './thread-reading.ts';
import { ThreadStream } from './thread-stream.ts';
import { completed, type Signal, threadAnswer } from './wire.ts';

const readMs = 15_000;
const idleDoubtMs = 1_000;
const longestWaitMs = 2_000;

/** One thread of a server, heard through the shared connection: its stream, its record, its questions. */
export class CodexThread {
  readonly request: OpenRequest;
  readonly link: ServerLink;
  readonly clock: Clock;
  readonly stream: ThreadStream;
  readonly questions: Questions;
  readonly history: History;
  readonly route: Route;
  readonly barrier: Barrier;
  /** Codex's own file of the thread. */
  path: string | undefined;
  #record: ThreadRecord;
  readonly #over = new AbortController();
  #hasExited = false;
  #toldOfStaleTools = false;
  readonly #readings = new Serial();
  #cancelDoubt: CancelTimer | undefined;

  constructor(
    request: OpenRequest,
    link: ServerLink,
    clock: Clock,
    state: ThreadState,
    record: ThreadRecord,
  ) {
    this.request = request;
    this.link = link;
    this.clock = clock;
    this.#record = record;
    this.history = new History(this.call);
    this.stream = new ThreadStream(state, {
      clock,
      emit: request.emit,
      onChange: (before, after) => this.#onChange(before, after),
      look: (threadIds) => livingCommands(link, threadIds),
      onOverflow: () => link.reset(),
    });
    this.questions = new Questions({
      onQuestion: request.profile.onQuestion ?? 'deny',
      toolsName: record.toolsName,
      respond: (id, result) => link.respond(id, result),
      reject: (id, text) => link.reject(id, text),
      emit: (event) => this.emit(event),
    });
    this.barrier = new Barrier(record.threadId, clock, this.call);
    this.route = this.#makeRoute();
  }

  /** The thread's id, which is the conversation's `nativeId`. */
  get id(): string {
    return this.#record.threadId;
  }

  /** What is known after everything that was reduced so far. */
  get state(): ThreadState {
    return this.stream.state;
  }

  /** Whether the server is dead. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Asks the server, bounded. */
  readonly call: Call = (method, params) => this.link.call(method, params, readMs);

  /** Emits an event that the stream does not know of, at the position reached. */
  emit(event: DriverReport): void {
    if (!this.#over.signal.aborted) this.request.emit({ ...event, position: this.state.position });
  }

  /** Keeps what another process of ours needs to go on. A failure is told, and costs only what a restart would find. */
  save(change: Partial<ThreadRecord> = {}): void {
    this.#record = { ...this.#record, ...change };
    try {
      writeThreadRecord(this.request.directory, this.#record);
    } catch (error) {
      this.emit({ type: 'noise', what: `the record of the thread cannot be written: ${String(error)}` });
    }
  }

  /**
   * Begins to hear the thread. A thread in memory is resumed without settings: with them Codex would load it anew, and
   * end the commands that it runs in the background.
   */
  async resume(isLoaded: boolean): Promise<Answer> {
    const settings = isLoaded ? {} : threadSettings(this.request, this.#record.toolsName);
    const params = { threadId: this.id, excludeTurns: true, ...settings };
    const answer = await this.link.call('thread/resume', params, loadMs);
    const read = threadAnswer.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
    this.path = read.data?.thread.path ?? this.path;
    this.barrier.disabledPlugins = read.data?.disabledPluginIds ?? this.barrier.disabledPlugins;
    if (read.success && !isLoaded) this.save({ tools: toolsFingerprint(this.request.tools) });
    return answer;
  }

  /** Reads what was missed and lets the stream go on behind it. Throws `Unreadable`; the stream is held then. */
  async readMissed(floor?: Floor, isForeignEndSkipped = false): Promise<void> {
    await clearQueue(this);
    const missed = await readMissed(this.history, this.state, {
      position: floor?.position ?? this.state.position,
      isOwn: this.#record.isOwn,
      unresolved: floor?.unresolved ?? new Set(this.state.deliveries.keys()),
      resume: (threadId) => hearAgent(this, threadId),
    });
    const signals = isForeignEndSkipped ? withoutDeadTurns(missed.signals) : missed.signals;
    this.stream.release({ ...missed, signals }, floor);
  }

  /**
   * Gives the thread the tools of this process, if it was loaded with others. Only an idle thread with nothing in the
   * background can be loaded anew without losing anything. Answers why the tools cannot be had, if they cannot.
   */
  async refreshTools(): Promise<string | undefined> {
    if (this.#record.tools === toolsFingerprint(this.request.tools)) return undefined;
    const { turn, tasks, agentTurns } = this.state;
    if (turn || tasks.size > 0 || agentTurns.size > 0) {
      if (!this.#toldOfStaleTools)
        this.emit({ type: 'noise', what: 'the address of the tools changed while the agent is at work' });
      this.#toldOfStaleTools = true;
      return undefined;
    }
    await this.call('thread/unsubscribe', { threadId: this.id });
    const answer = await this.resume(false);
    return answer.outcome === 'ok' ? undefined : answer.message;
  }

  /** Looks in the record whether the running turn is over, although nobody said so. */
  async doubtRunningTurn(): Promise<void> {
    const { turn } = this.state;
    if (!turn || this.#over.signal.aborted) return;
    try {
      const turns = await this.history.turns(this.id, (read) => read.some(({ id }) => id === turn.id));
      const found = turns.find(({ id }) => id === turn.id);
      const end = found && completed(this.id, found);
      if (end && this.state.turn?.id === turn.id) this.stream.push(end, { isReplay: true });
    } catch {
      // Then the next connection will tell.
    }
  }

  /** Hears and emits nothing any more. */
  close(): void {
    this.#over.abort();
    this.#cancelDoubt?.();
    this.link.remove(this.route);
    this.stream.close();
  }

  #makeRoute(): Route {
    return {
      threadId: this.id,
      onSignal: (signal) => this.#onSignal(signal),
      onRequest: (request) => this.stream.inOrder(() => this.questions.ask(request)),
      onNoise: (what) => this.emit({ type: 'noise', what }),
      onDisconnect: () => this.stream.hold(),
      onReconnect: () => void this.#readings.run(() => this.#onReconnect()),
      onExit: (reason) => this.#onExit(reason),
      ownsTurn: (turnId) =>
        this.state.turn?.id === turnId ||
        this.state.starting?.turnId === turnId ||
        this.state.ended.includes(turnId),
    };
  }

  #onSignal(signal: Signal): void {
    if (signal.type === 'requestResolved') {
      return this.stream.inOrder(() => this.questions.resolved(signal.requestId));
    }
    if (signal.type === 'settings') return this.barrier.heard(signal.threadId, signal.disabledPlugins);
    this.stream.push(signal);
    if (signal.type === 'idle' && signal.threadId === this.id) {
      // The end comes in the same moment. When it does not, it was lost on the way, and the record has it.
      this.#cancelDoubt?.();
      this.#cancelDoubt = this.clock.after(idleDoubtMs, () => void this.doubtRunningTurn());
    }
    // A sub-agent that was spoken to again may not be heard since the last connection.
    if (signal.type === 'itemCompleted' && signal.item.tool !== 'spawnAgent') {
      for (const threadId of signal.item.receiverThreadIds ?? []) void watchAgent(this, threadId);
    }
  }

  #onChange(before: ThreadState, after: ThreadState): void {
    if (before.tasks !== after.tasks) this.save({ tasks: recordedTasks(after) });
    if (before.agents !== after.agents)
      for (const id of after.agents.keys()) this.link.routes.claim(id, this.route);
    if (before.turn && before.turn.id !== after.turn?.id) this.questions.clear();
  }

  async #onReconnect(): Promise<void> {
    this.stream.hold();
    // A server on its way out answers nothing any more; then its end will end this.
    const { signal } = this.#over;
    for (let waitMs = 50; !signal.aborted && !this.#hasExited; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        const isLoaded = (await this.history.loadedThreads()).includes(this.id);
        const answer = await this.resume(isLoaded);
        if (answer.outcome === 'ok') return await this.readMissed();
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
      }
      await pause(this.clock, waitMs, signal);
    }
  }

  #onExit(reason: string): void {
    this.#hasExited = true;
    this.stream.release(undefined);
    const { turn } = this.state;
    if (turn && this.path !== undefined) {
      for (const signal of readRollout(this.path, this.id, turn.id)) {
        const isHeard = signal.type === 'itemCompleted' && signal.item.text === turn.answer;
        if (!isHeard) this.stream.push(signal, { isReplay: true });
      }
    }
    this.stream.inOrder(() => {
      this.emit({ type: 'exited', reason });
      this.close();
    });
  }
}

/** Turns that died with an earlier process are not told: whoever reads this knows that the process is dead. */
function withoutDeadTurns(signals: readonly Signal[]): Signal[] {
  const dead = new Set(
    signals.flatMap((s) => (s.type === 'turnCompleted' && s.status === 'died' ? [s.turnId] : [])),
  );
  return signals.filter((signal) => !('turnId' in signal) || !dead.has(signal.turnId));
}
