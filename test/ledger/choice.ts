import type { Ids } from '../../src/base/ids.ts';
import { FreshIds } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import type { TurnLimits } from '../../src/ledger/line.ts';
import type { Session } from '../../src/ledger/session.ts';
import type { Turn } from '../../src/ledger/turn.ts';
import type { WakeRow } from '../../src/wakeups/rows.ts';
import type { Call } from './calls.ts';
import type { Came } from './moment.ts';
import type { State } from './state.ts';

/** Four small numbers that say about what a step is, and how: what they mean depends on the state. */
export interface Numbers {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
}

/** What a choice may look at. */
export interface Context extends Numbers {
  readonly state: State;
  /** UTC milliseconds. */
  readonly now: number;
  readonly ids: Ids;
  /** Those that the server runs with. */
  readonly limits: TurnLimits | undefined;
}

/** What to do next: a call, what follows from what it came to, and the wake-up that is handled with the last of these. */
export interface Choice {
  readonly call: Call;
  readonly follow?: (came: Came, state: State) => Choice | undefined;
  readonly wake?: WakeRow;
}

/** Chooses a call in a state, or nothing when there is nothing to do it to. */
export type Choose = (context: Context) => Choice | undefined;

/** The node on which everything runs. */
export const node = 'local';

/** Ids for one decision. */
export function freshOf(context: Context): FreshIds {
  return new FreshIds(context.ids);
}

/** One of the rows; small numbers take the newest. */
export function one<Row>(rows: Iterable<Row>, n: number): Row | undefined {
  const list = [...rows];
  return list[list.length - 1 - (n % Math.max(1, list.length))];
}

/** True for one in `of`: how often something implausible is tried. */
export function isRare(n: number, of: number): boolean {
  return n % of === of - 1;
}

/** A session, mostly one in which something goes on or waits. */
export function sessionOf({ state, a }: Context): Session | undefined {
  const all = [...state.sessions.values()];
  const waits = new Set<string>();
  for (const input of state.inputs.values()) waits.add(input.sessionId);
  for (const notice of state.notices.values()) if (notice.state === 'owed') waits.add(notice.sessionId);
  const active = all.filter((row) => row.laneTurn !== null || waits.has(row.id));
  return isRare(a, 8) || active.length === 0 ? one(all, a) : one(active, a);
}

/** Whether the lane could be taken for something. */
export function hasWork({ state, now }: Context, session: Session): boolean {
  for (const input of state.inputs.values())
    if (input.sessionId === session.id && input.steerId === null) return true;
  for (const notice of state.notices.values())
    if (notice.sessionId === session.id && notice.state === 'owed' && notice.notBefore <= now) return true;
  return false;
}

/** The turns that have not ended: what the agent does by itself first. */
export function unendedTurns(state: State, session: Session): Turn[] {
  return [session.wakeTurn, session.laneTurn].flatMap((id) => {
    const turn = id === null ? undefined : state.turns.get(id);
    return turn && turn.state !== 'ended' ? [turn] : [];
  });
}

/** What a driver would name as the turn that runs; rarely another one, or one that nobody knows. */
export function runningName({ state, now }: Context, session: Session, n: number): string {
  const running = unendedTurns(state, session).filter((turn) => turn.nativeTurnId !== null);
  const right = one(running, n)?.nativeTurnId;
  if (right && !isRare(n, 12)) return right;
  const other = one(
    [...state.turns.values()].filter((turn) => turn.nativeTurnId !== null),
    n,
  )?.nativeTurnId;
  return other ?? `unknown ${now}`;
}

/** Whether its end is its turn's, and not its program's. */
export function isOfTurn(row: Execution): boolean {
  return row.kind === 'message' || row.kind === 'continuation' || row.kind === 'late';
}

/** Executions that a program runs and that have not settled. */
export function runningPrograms(state: State): Execution[] {
  return [...state.executions.values()].filter((row) => !isSettled(row.state) && !isOfTurn(row));
}
