import type { Session } from '../../src/ledger/session.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { CommitContext } from './checks-context.ts';

/** How long a slot is kept for whoever was called, in milliseconds. */
const keptSlotMs = 30_000;

/** Who may begin: never more turns than the limits of the server, in the order of asking, and one run in a directory. */
export function checkAdmission(context: CommitContext): void {
  const { before, after } = context;
  for (const session of after.sessions) {
    const was = before.sessions.find((row) => row.id === session.id);
    const turn = after.turns.find((row) => row.id === session.laneTurn);
    // What an agent begins by itself asks nobody.
    if (!was || was.laneTurn !== null || turn?.state !== 'starting') continue;
    checkLimits(context, session);
    checkOrder(context, session);
  }
  checkAlone(context);
}

function atWork(state: MemorySnapshot): Session[] {
  return state.sessions.filter((row) => row.laneTurn !== null);
}

function checkLimits({ world, after }: CommitContext, session: Session): void {
  const { turns = Infinity, perAgent = Infinity } = world.limited.limits ?? {};
  const all = atWork(after);
  const own = all.filter((row) => row.agent === session.agent);
  if (all.length > turns || own.length > perAgent)
    world.violations.report('CROWDED', `${session.title} is turn ${all.length} of ${turns}`);
}

/** With a limit for all: each free slot belongs to one of those who asked earlier, as long as they may still come. */
function checkOrder({ world, before }: CommitContext, session: Session): void {
  const { turns } = world.limited.limits ?? {};
  if (turns === undefined) return;
  const now = world.clock.now();
  const place = before.admissions.find((row) => row.sessionId === session.id)?.place ?? Infinity;
  const ahead = before.admissions.filter(
    (row) => row.place < place && (row.calledAt === null || row.calledAt + keptSlotMs > now),
  );
  if (ahead.length >= turns - atWork(before).length)
    world.violations.report('OVERTAKEN', `${session.title} goes before ${ahead.length} that asked earlier`);
}

function checkAlone({ world, after }: CommitContext): void {
  const inside = new Map<string, string>();
  for (const { runId, lock } of after.workspaces) {
    const run = after.runs.find((row) => row.id === runId);
    // A run that goes on after its end asks for its directory anew.
    const isAtWork = after.executions.some(
      (row) => row.runId === runId && row.startedAt !== null && !row.closed,
    );
    if (lock === null || run?.state !== 'running' || !isAtWork) continue;
    const other = inside.get(lock);
    if (other !== undefined) world.violations.report('SHARED', `${run.name} and ${other} work in ${lock}`);
    inside.set(lock, run.name);
  }
}
