import type { Admission, TurnLimits } from '../../../src/ledger/line.ts';
import type { LaneTaken } from '../../../src/ledger/lane.ts';
import type { Session } from '../../../src/ledger/session.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, commandIf, firstOf } from '../moment.ts';
import type { State } from '../state.ts';

/** How long a slot is kept for whoever was called, in milliseconds. */
const keptSlotMs = 30_000;

/** The slots of a state, counted anew from its sessions. */
class Seats {
  readonly #limits: TurnLimits;
  readonly #taken: Pick<Session, 'agent' | 'project'>[];

  constructor(state: State, limits: TurnLimits) {
    this.#limits = limits;
    this.#taken = [...state.sessions.values()].filter((row) => row.laneTurn !== null);
  }

  fits(one: Pick<Session, 'agent' | 'project'>): boolean {
    const { turns = Infinity, perAgent = Infinity, perProject = Infinity } = this.#limits;
    const same = (field: 'agent' | 'project'): number =>
      this.#taken.filter((other) => other[field] === one[field]).length;
    return this.#taken.length < turns && same('agent') < perAgent && same('project') < perProject;
  }

  take(one: Pick<Session, 'agent' | 'project'>): void {
    this.#taken.push(one);
  }
}

/** Whoever could be let in, one after the other: the slots of those that do not come are not kept. */
function seated(line: Iterable<Admission>, seats: Seats, now: number): Admission[] {
  return [...line]
    .sort((a, b) => a.place - b.place)
    .filter((row) => {
      if (!seats.fits(row) || isSlow(row, now)) return false;
      seats.take(row);
      return true;
    });
}

function isSlow({ calledAt }: Admission, now: number): boolean {
  return calledAt !== null && calledAt + keptSlotMs <= now;
}

/** The session that has just been let to its lane by us. */
function letIn(moment: Moment): Session | undefined {
  const { before, came } = moment;
  const command = commandIf(moment, 'takeLane');
  const isTaken = command && came.as === 'decided' && (came.value as LaneTaken).taken;
  return isTaken ? before.sessions.get(command.sessionId) : undefined;
}

function checkLimits(moment: Moment): string | undefined {
  const session = letIn(moment);
  const { before, limits } = moment;
  if (!session || !limits || new Seats(before, limits).fits(session)) return undefined;
  return `${short(session.id)} was let in, and ${JSON.stringify(limits)} turns ran`;
}

function checkLine(moment: Moment): string | undefined {
  const session = letIn(moment);
  const { before, limits, now } = moment;
  if (!session || !limits) return undefined;
  const place = before.admissions.get(session.id)?.place ?? Infinity;
  const ahead = [...before.admissions.values()].filter((row) => row.place < place);
  const seats = new Seats(before, limits);
  const first = seated(ahead, seats, now);
  if (seats.fits(session)) return undefined;
  return `${short(session.id)} was let in before ${first.map((row) => short(row.sessionId)).join(', ')}`;
}

function isDue(state: State, key: string, now: number): boolean {
  return (state.wakes.get(key)?.at ?? Infinity) <= now;
}

function checkCalled({ after, limits, now }: Moment): string | undefined {
  const callable = seated(after.admissions.values(), new Seats(after, limits ?? {}), now);
  return firstOf(callable, ({ sessionId }) => {
    if (isDue(after, 'slot:line', now) || isDue(after, `session:${sessionId}`, now)) return undefined;
    return `there is a slot for ${short(sessionId)}, and nobody calls it`;
  });
}

function checkShown({ after }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    if (row.waiting?.for === 'slot' && (row.runsIn === null || !after.admissions.has(row.runsIn)))
      return `${short(row.id)} is shown in a line in which its session is not`;
    return undefined;
  });
}

function checkWorkspace(moment: Moment): string | undefined {
  if (!letIn(moment)) return undefined;
  const { before, after } = moment;
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    const workspace = row.runId === null ? undefined : after.workspaces.get(row.runId);
    if (was?.state !== 'queued' || row.state !== 'running' || (workspace?.lock ?? null) === null)
      return undefined;
    return workspace?.isHeld ? undefined : `${short(row.id)} works in a workspace that its run does not hold`;
  });
}

function checkReleased({ after }: Moment): string | undefined {
  return firstOf(after.workspaces.values(), ({ runId, place }) =>
    place !== null && after.runs.get(runId)?.state === 'ended'
      ? `${short(runId)} has ended, and is in line for a workspace`
      : undefined,
  );
}

function checkWorkspaceLine({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.workspaces, after.workspaces), ({ was, row }) => {
    if (!row.isHeld || was?.isHeld !== false) return undefined;
    const earlier = [...before.workspaces.values()].find(
      (other) => other.lock === row.lock && other.place !== null && other.place < (was.place ?? Infinity),
    );
    return earlier && `${short(row.runId)} got ${row.lock} before ${short(earlier.runId)}`;
  });
}

function checkOffered({ after, now }: Moment): string | undefined {
  const inLine = [...after.workspaces.values()].filter((row) => row.lock !== null && row.place !== null);
  return firstOf(new Set(inLine.map((row) => row.lock)), (lock) => {
    const rows = inLine.filter((row) => row.lock === lock);
    if (rows.some((row) => row.isHeld)) return undefined;
    const isCalled = rows.some((row) => {
      const run = after.runs.get(row.runId);
      const target = run?.sessionId === null ? `run:${run.id}` : `session:${run?.sessionId}`;
      return run && isDue(after, target, now);
    });
    return isCalled ? undefined : `${lock} is free, and nobody who waits for it is woken`;
  });
}

function checkForgotten({ after }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    const session = row.runsIn === null ? undefined : after.sessions.get(row.runsIn);
    if (row.state !== 'queued' || row.waiting?.for !== 'workspace' || row.runId === null || !session)
      return undefined;
    const isBusy = session.laneTurn !== null || session.wakeTurn !== null || session.state === 'stopped';
    const isCalled = after.wakes.has(`session:${session.id}`) || after.admissions.has(session.id);
    if (isBusy || isCalled || session.limit !== null || after.workspaces.get(row.runId)?.place !== null)
      return undefined;
    return `${short(row.id)} waits for a workspace, and is not in line for it`;
  });
}

/** Who may begin, and in which order: the limits of turns, and the workspaces of runs. */
export const admissionProperties: readonly Property[] = [
  { name: 'we begin no turn beyond the limits', check: checkLimits },
  { name: 'whoever asked first is let in first', check: checkLine },
  { name: 'whoever could be let in is called', check: checkCalled },
  { name: 'who is shown in line is in line', check: checkShown },
  { name: 'a message of a run has its workspace', check: checkWorkspace },
  { name: 'a run that has ended holds nothing', check: checkReleased },
  { name: 'a workspace goes to whoever asked first', check: checkWorkspaceLine },
  { name: 'a workspace that is free is offered to whoever waits', check: checkOffered },
  { name: 'who waits for a workspace is in line for it', check: checkForgotten },
];
