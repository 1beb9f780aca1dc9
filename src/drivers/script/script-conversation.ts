import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../base/clock.ts';
import { minimalEnvironment, resolveProgram } from '../../processes/command.ts';
import { endGroups } from '../../processes/group.ts';
import { refused } from '../outcomes.ts';
import type {
  Conversation,
  Delivery,
  DriverEvent,
  Evidence,
  Located,
  OpenRequest,
  SendOutcome,
} from '../port.ts';
import { launchTurn, removeTurn, type TurnRecord } from './turn-record.ts';
import { type TurnEnd, TurnWatch } from './turn-watch.ts';

/** What a conversation is made of. `turns` are those found in `root`, oldest first. */
export interface ScriptConversationOptions {
  readonly request: OpenRequest;
  readonly root: string;
  readonly turns: readonly TurnRecord[];
  readonly clock: Clock;
  readonly graceMs: number;
  readonly mostOutputBytes?: number;
}

const keptTurns = 50;
const positionsPerTurn = 3;

// A turn takes three positions: its start, its answer, its end. A replay therefore begins at the very event that was
// not processed yet.
const startOf = (turn: TurnRecord): number => (turn.number - 1) * positionsPerTurn + 1;
const answerOf = (turn: TurnRecord): number => startOf(turn) + 1;
const endOf = (turn: TurnRecord): number => startOf(turn) + 2;
const nativeIdOf = (turn: TurnRecord): string => `turn-${turn.number}`;

/**
 * The turns of one session, one at a time. Turns whose end was not processed by an earlier owner are reported first, in
 * order; then the conversation is idle.
 */
export class ScriptConversation implements Conversation {
  readonly nativeId: string;
  readonly #options: ScriptConversationOptions;
  readonly #turns: TurnRecord[];
  /** Launched, and not yet reported as started (or not by us). */
  readonly #unreported: { turn: TurnRecord; child?: ChildProcess }[];
  #current: TurnWatch | undefined;
  #starting: Promise<SendOutcome> | undefined;
  #position: number;
  #isEnding = false;
  #isSilent = false;

  constructor(options: ScriptConversationOptions) {
    const { request, turns } = options;
    this.nativeId = request.nativeId ?? request.sessionId;
    this.#options = options;
    this.#turns = [...turns];
    this.#position = request.position;
    this.#unreported = turns.filter((turn) => endOf(turn) > request.position).map((turn) => ({ turn }));
  }

  /** Whether an earlier owner left a turn that runs, or whose end it did not process. */
  hasUnreported(): boolean {
    return this.#unreported.length > 0;
  }

  /** Lets the reports begin, after the caller has the conversation in its hands. Returns itself. */
  begin(): this {
    setImmediate(() => this.#report());
    return this;
  }

  async start(delivery: Delivery): Promise<SendOutcome> {
    if (this.#starting || this.#current || this.#unreported.length > 0) return refused('a turn is running');
    if (this.#isEnding || this.#isSilent) return refused('the conversation was left');
    this.#starting = this.#launch(delivery)
      .catch((error: unknown) => refused(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        this.#starting = undefined;
      });
    return this.#starting;
  }

  async steer(): Promise<SendOutcome> {
    return refused('a script reads its input once, at its start');
  }

  async withdraw(): Promise<'unknown'> {
    return 'unknown';
  }

  async interrupt(): Promise<'asked' | 'idle' | 'unknown'> {
    await this.#catchUp();
    if (!this.#current) return 'idle';
    void this.#current.interrupt();
    return 'asked';
  }

  async evidence(deliveryId: string): Promise<Evidence> {
    await this.#catchUp();
    const turn = this.#turns.find((known) => known.deliveryId === deliveryId);
    return turn ? { state: 'consumed', nativeTurnId: nativeIdOf(turn) } : { state: 'absent' };
  }

  async locate(): Promise<Located> {
    await this.#catchUp();
    if (this.#current) return { state: 'running', nativeTurnId: nativeIdOf(this.#current.turn) };
    return { state: this.#turns.length > 0 ? 'ended' : 'unknown' };
  }

  async answer(): Promise<boolean> {
    return false;
  }

  async detach(): Promise<void> {
    await this.#starting;
    this.#leave();
  }

  async end(): Promise<'dead' | 'unkillable'> {
    this.#isEnding = true;
    await this.#catchUp();
    let outcome: 'dead' | 'unkillable' = 'dead';
    while (this.#current && outcome === 'dead') outcome = await this.#current.interrupt();
    const { clock, graceMs } = this.#options;
    // Ended turns may have left something running behind them.
    const identities = this.#turns.map((turn) => turn.identity);
    if (outcome === 'dead') outcome = await endGroups(identities, { clock, graceMs });
    if (outcome === 'dead')
      this.#emit({ type: 'exited', reason: 'the conversation was ended', position: this.#position });
    this.#leave();
    return outcome;
  }

  #leave(): void {
    this.#isSilent = true;
    this.#current?.stop();
    this.#current = undefined;
  }

  async #launch(delivery: Delivery): Promise<SendOutcome> {
    const { request, root, clock } = this.#options;
    const permit = await request.prepareLaunch?.();
    if (permit?.ok === false) return refused(permit.message);
    const env = { ...environmentOf(request), ...permit?.env };
    const [name = '', ...args] = request.profile.command;
    const program = await resolveProgram(name, env, request.cwd);
    if (!program.ok) return refused(program.message);
    await this.#prune();
    const plan = {
      number: this.#nextNumber(),
      deliveryId: delivery.id,
      prompt: delivery.text,
      argv: [program.path, ...args],
      env,
      cwd: request.cwd,
    };
    const launched = await launchTurn(root, plan, clock);
    if (!launched.ok) return refused(launched.message);
    this.#turns.push(launched.turn);
    this.#unreported.push({ turn: launched.turn, child: launched.child });
    this.begin();
    return { outcome: 'written' };
  }

  // The position alone would do, the directories alone too: either may have been lost.
  #nextNumber(): number {
    const known = Math.max(0, ...this.#turns.map((turn) => turn.number));
    return Math.max(known, Math.ceil(this.#position / positionsPerTurn)) + 1;
  }

  async #prune(): Promise<void> {
    while (this.#turns.length >= keptTurns) {
      const [oldest] = this.#turns.splice(0, 1);
      if (oldest) await removeTurn(oldest);
    }
  }

  // Everything that has happened so far is reported before this resolves.
  async #catchUp(): Promise<void> {
    await this.#starting;
    this.#report();
    this.#current?.check();
  }

  #report(): void {
    if (this.#current || this.#isSilent) return;
    const next = this.#unreported.shift();
    if (!next) return;
    const { turn, child } = next;
    const onEnd = (end: TurnEnd): void => this.#reportEnd(turn, end);
    const watch = new TurnWatch(turn, { ...this.#options, onEnd, ...(child ? { child } : {}) });
    this.#current = watch;
    const delivery = turn.deliveryId === '' ? {} : { deliveryId: turn.deliveryId };
    this.#emit({ type: 'turnStarted', nativeTurnId: nativeIdOf(turn), ...delivery, position: startOf(turn) });
    if (!this.#isSilent) watch.start();
  }

  #reportEnd(turn: TurnRecord, { status, answer, message }: TurnEnd): void {
    this.#current = undefined;
    const nativeTurnId = nativeIdOf(turn);
    if (answer !== '')
      this.#emit({
        type: 'item',
        nativeTurnId,
        item: { kind: 'text', text: answer },
        position: answerOf(turn),
      });
    const error = message === undefined ? {} : { error: { kind: 'agent' as const, message } };
    this.#emit({
      type: 'turnEnded',
      nativeTurnId,
      status,
      answer,
      ...error,
      tasks: [],
      position: endOf(turn),
    });
    this.#report();
  }

  #emit(event: DriverEvent): void {
    const isReplayed = event.type !== 'exited' && event.position <= this.#position;
    if (this.#isSilent || isReplayed) return;
    this.#position = event.position;
    this.#options.request.emit(event);
  }
}

function environmentOf({ profile, tools, sessionId }: OpenRequest): Record<string, string> {
  const ours: Record<string, string> = { STEMMA_SESSION: sessionId };
  if (tools) {
    ours['STEMMA_URL'] = new URL(tools.url).origin;
    ours['STEMMA_TOKEN'] = tools.token;
  }
  return minimalEnvironment({ ...profile.env, ...ours });
}
