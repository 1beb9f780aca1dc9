import type { ExecutionId, RunId, SessionId, TurnId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import type { Cancelling } from '../ledger/cancel.ts';
import { cancel, cancelRun, stopSession } from '../ledger/cancel.ts';
import type { CancelRequest } from '../ledger/execution.ts';
import { isAttempt, isSettled } from '../ledger/execution.ts';
import { endProgram } from '../ledger/graph-walk.ts';
import { hasWantedOwner } from '../ledger/interruption.ts';
import { ask } from '../ledger/questions.ts';
import { settle } from '../ledger/settle.ts';
import type { Decided } from '../ledger/store.ts';
import type { Turn } from '../ledger/turn.ts';
import type { RunsContext } from './ports.ts';

/** How long an agent has to stop its turn when asked, before its process is ended. */
const interruptGraceMs = 10_000;
/** How long a join waits for the tree to close after everything that can be ended was ended. */
const joinMs = 30_000;

/** The cancellation of an execution with everything below it. */
export interface CancelTree {
  readonly id: ExecutionId;
  readonly request: Omit<CancelRequest, 'at'>;
  /** What the outcome says: `CANCELLED`, `TIMED_OUT`, `BUDGET`. */
  readonly verdict: 'CANCELLED' | 'TIMED_OUT' | 'BUDGET';
  /** False when the caller is itself part of the tree and would wait for itself. */
  readonly join: boolean;
}

/** Ends trees and sessions, and joins what it ended. */
export class Stopping {
  readonly #context: RunsContext;

  constructor(context: RunsContext) {
    this.#context = context;
  }

  /** Latches the cancellation, ends what runs, and answers whether the tree closed. */
  async cancelTree(command: CancelTree): Promise<Decided<{ readonly closed: boolean }>> {
    const { store, clock, ids } = this.#context;
    const fresh = new FreshIds(ids);
    const { id, verdict } = command;
    const request = { ...command.request, at: clock.now() };
    const isByDeadline = request.actor.kind === 'deadline';
    const decided = await store.decide(() =>
      cancel({ now: clock.now(), id, request, verdict, isByDeadline, fresh }),
    );
    if (!decided.ok) return decided;
    const ending = this.#endAll(decided.value, 'cancelled');
    if (!command.join) {
      this.#context.owner.start(() => ending);
      return { ok: true, value: { closed: false } };
    }
    await ending;
    return { ok: true, value: { closed: await this.#context.commits.closed(id, joinMs) } };
  }

  /** Cancels a run with its message that is open, and joins that. */
  async cancelRun(id: RunId, request: CancelTree['request']): Promise<Decided<void>> {
    const { store, clock, ids, commits } = this.#context;
    const fresh = new FreshIds(ids);
    const at = clock.now();
    const decided = await store.decide(() => cancelRun({ now: at, id, request: { ...request, at }, fresh }));
    if (!decided.ok) return decided;
    const { openId, cancelling } = decided.value;
    await this.#endAll(cancelling, 'cancelled');
    if (openId !== null) await commits.closed(openId, joinMs);
    return { ok: true, value: undefined };
  }

  /** Stops a session: its roots and what it hosts are cancelled, its process ended; it stays stopped. */
  async stopSession(id: SessionId, request: CancelTree['request']): Promise<Decided<void>> {
    const { store, clock, sessions } = this.#context;
    const at = clock.now();
    const decided = await store.decide(() =>
      stopSession({ now: at, sessionId: id, request: { ...request, at } }),
    );
    if (!decided.ok) return decided;
    await Promise.all(
      decided.value.roots.map((root) =>
        this.cancelTree({ id: root, request, verdict: 'CANCELLED', join: true }),
      ),
    );
    await sessions.of(id).endStopped();
    return { ok: true, value: undefined };
  }

  async #endAll(cancelling: Cancelling, reason: string): Promise<void> {
    await Promise.all([
      ...cancelling.interrupt.map(({ sessionId, turnId }) => this.#endTurn(sessionId, turnId, reason)),
      ...cancelling.processes.map((id) => this.#endProcess(id)),
    ]);
  }

  /** Asks first; an agent that does not stop within the grace loses its process, and with it its turn. */
  async #endTurn(sessionId: SessionId, turnId: TurnId, reason: string): Promise<void> {
    if (await this.#stopsWhenAsked(sessionId, turnId)) return;
    const ahead = await this.#aheadOf(sessionId, turnId);
    // What somebody waits for is not ours to end; the turn behind it is stopped when it begins.
    if (ahead && (await this.#context.store.read(() => hasWantedOwner(ahead)))) return;
    if (ahead && (await this.#stopsWhenAsked(sessionId, ahead.id))) return;
    const session = this.#context.sessions.of(sessionId);
    const result = await session.end(`${reason}: it did not stop when asked`);
    if (result === 'unkillable') this.#context.report('agent.unkillable', { sessionId });
    await session.deliver();
  }

  async #stopsWhenAsked(sessionId: SessionId, turnId: TurnId): Promise<boolean> {
    const answer = await this.#context.sessions.of(sessionId).interruptTurn(turnId);
    return this.#context.commits.turnEnded(turnId, answer === 'unknown' ? 0 : interruptGraceMs);
  }

  /** What the agent does by itself, before it takes up the text that was to begin this turn. */
  async #aheadOf(sessionId: SessionId, turnId: TurnId): Promise<Turn | undefined> {
    const { store } = this.#context;
    const session = await store.read(() => ask('session', sessionId));
    const id = session?.wakeTurn;
    return id && id !== turnId ? store.read(() => ask('turn', id)) : undefined;
  }

  async #endProcess(id: ExecutionId): Promise<void> {
    const { store, clock, ids, commands, sessions } = this.#context;
    const row = await store.read(() => ask('execution', id));
    if (!row || isSettled(row.state)) return;
    if (isAttempt(row)) return this.#endScript(row.id);
    // A program that beats is told by the answer to its next heartbeat, and is lost when none comes.
    if (row.deadlineAt !== null) return;
    // It lives in the agent's process, and settles when its end is seen.
    if (row.kind === 'task' && row.runsIn !== null) return sessions.of(row.runsIn).stopTasks();
    if ((await commands.end(id)) === 'unkillable') return this.#context.report('process.unkillable', { id });
    const noticeId = ids.make('notice');
    await store.decide(() => settle({ now: clock.now(), id, noticeId, ending: { state: 'cancelled' } }));
  }

  /** Whoever listens to the script may see its end first; it is cancelled all the same. */
  async #endScript(id: ExecutionId): Promise<void> {
    const { store, clock, ids, commands } = this.#context;
    if ((await commands.end(id)) === 'unkillable') return this.#context.report('process.unkillable', { id });
    const end = { state: 'cancelled', result: null, error: null, outputs: {} } as const;
    const fresh = new FreshIds(ids);
    await store.decide(() => endProgram({ now: clock.now(), id, end, fresh }));
    await commands.clear(id);
  }
}
