import type { ErrorCode } from '../base/errors.ts';
import type { ExecutionId, NoticeId } from '../base/ids.ts';
import type { Effect, ExecutionPatch, LedgerEvent, Wake } from './effects.ts';
import type { Execution, ExecutionUsage, Failure, SettledState } from './execution.ts';
import { executionTransitions, isSettled } from './execution.ts';
import type { Notice, NoticeInput } from './notice.ts';
import { noticeTransitions } from './notice.ts';
import type { Notification } from './notification.ts';
import type { Asking } from './questions.ts';

/** What a rule decided: effects to apply as one transaction, or a refusal that changes nothing. */
export type Decision<T> =
  | { readonly ok: true; readonly effects: readonly Effect[]; readonly value: T }
  | Refusal;

/** A rule said no: why, for programs (`code`, `data`) and for people (`message`). Nothing was changed. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A rule of the ledger: asks, then decides. */
export type Rule<T> = Asking<Decision<T>>;

/** Refuses with a code of the error table. */
export function refuse(
  code: ErrorCode,
  message: string,
  data: Readonly<Record<string, unknown>> = {},
): Refusal {
  return { ok: false, code, message, data };
}

/** How an execution ended. */
export interface Ending {
  readonly state: SettledState;
  readonly error?: Failure | null;
  readonly result?: string | null;
  /** Of what ends with a turn and has a result: how many turns of its session have ended with this one. */
  readonly answerPlace?: number | null;
  readonly usage?: ExecutionUsage | null;
}

/**
 * Collects the effects of one decision. Deltas of one execution are summed, so a hand-over that nets to zero touches no
 * row, and they are ordered so that no deficit passes through zero on the way: what adds comes first, then ends, then
 * what takes away.
 */
export class Draft {
  readonly #now: number;
  readonly #plain: Effect[] = [];
  readonly #deltas = new Map<ExecutionId, number>();
  readonly #endings = new Map<ExecutionId, Ending>();
  readonly #tail: Effect[] = [];
  readonly #notified = new Set<string>();

  constructor(now: number) {
    this.#now = now;
  }

  get now(): number {
    return this.#now;
  }

  add(effect: Effect): void {
    this.#plain.push(effect);
  }

  /** Inserts an execution and counts it on its parent and its holders. */
  register(row: Execution, holders: readonly ExecutionId[]): void {
    this.add({ do: 'insertExecution', row });
    this.event('execution.registered', row, { kind: row.kind, name: row.name, parentId: row.parentId });
    for (const holderId of holders) this.add({ do: 'insertHold', executionId: row.id, holderId });
    if (row.detachedAt !== null) return;
    if (row.parentId !== null) this.open(row.parentId, 1);
    for (const holderId of holders) this.open(holderId, 1);
  }

  patch(id: ExecutionId, set: ExecutionPatch): void {
    this.add({ do: 'patchExecution', id, set });
  }

  open(id: ExecutionId, by: number): void {
    this.#deltas.set(id, (this.#deltas.get(id) ?? 0) + by);
  }

  /** How much this decision has added to a deficit so far. */
  added(id: ExecutionId): number {
    return this.#deltas.get(id) ?? 0;
  }

  /** Settles once. A second end of the same execution is dropped: terminal states never change. */
  settle(row: Execution, ending: Ending): void {
    if (isSettled(row.state) || this.#endings.has(row.id)) return;
    if (!executionTransitions[row.state][ending.state])
      throw new Error(`${row.state} cannot become ${ending.state}`);
    // What its turn was seen to use stays, however it ends.
    this.#endings.set(row.id, { ...ending, usage: ending.usage ?? row.usage });
    const data: Record<string, unknown> = { state: ending.state };
    if (ending.error) data['code'] = ending.error.code;
    this.event('execution.settled', row, data);
  }

  /** Whether this decision settles the execution. */
  settles(id: ExecutionId): boolean {
    return this.#endings.has(id);
  }

  notice(row: Notice, input: NoticeInput, set: Partial<Notice>): void {
    const state = noticeTransitions[row.state][input];
    if (!state) throw new Error(`notice ${row.id}: ${input} is illegal while ${row.state}`);
    this.add({ do: 'patchNotice', id: row.id, set: { ...set, state } });
    this.noticeEvent(row, state, set);
  }

  noticeEvent(row: Notice, state: string, set: Partial<Notice> = {}): void {
    this.#tail.push({
      do: 'event',
      event: {
        type: `notice.${state}`,
        at: this.#now,
        rootId: row.rootId,
        sessionId: row.sessionId,
        data: {
          noticeId: row.id as NoticeId,
          executionId: row.executionId,
          ...(set.continuationId ? { continuationId: set.continuationId } : {}),
          ...(set.reason ? { reason: set.reason } : {}),
        },
      },
    });
  }

  /** Writes a notification, unless this decision has written it already; then false. */
  notify(row: Notification): boolean {
    if (this.#notified.has(row.id)) return false;
    this.#notified.add(row.id);
    // After everything that it names.
    this.#tail.push({ do: 'insertNotification', row });
    return true;
  }

  event(
    type: string,
    about: Pick<Execution, 'id' | 'rootId' | 'runsIn'>,
    data: LedgerEvent['data'] = {},
  ): void {
    this.#tail.push({
      do: 'event',
      event: {
        type,
        at: this.#now,
        rootId: about.rootId,
        sessionId: about.runsIn,
        data: { executionId: about.id, ...data },
      },
    });
  }

  tell(event: Omit<LedgerEvent, 'at'>): void {
    this.#tail.push({ do: 'event', event: { ...event, at: this.#now } });
  }

  wake(kind: Wake['kind'], target: string, at = 0): void {
    this.#tail.push({ do: 'wake', wake: { kind, target, at } });
  }

  done<T>(value: T): Decision<T> {
    return { ok: true, effects: this.#ordered(), value };
  }

  #ordered(): Effect[] {
    const more: Effect[] = [];
    const less: Effect[] = [];
    for (const [id, by] of this.#deltas) {
      if (by === 0 || this.#endings.has(id)) continue;
      (by > 0 ? more : less).push({ do: 'open', id, by });
    }
    const ends = [...this.#endings].map(([id, ending]): Effect => {
      const { state, error = null, result = null, answerPlace = null, usage = null } = ending;
      const openBy = this.added(id);
      return { do: 'settle', id, state, at: this.#now, openBy, error, result, answerPlace, usage };
    });
    return [...this.#plain, ...more, ...ends, ...less, ...this.#tail];
  }
}
