import type { RunId } from '../../../src/base/ids.ts';
import { FreshIds } from '../../../src/base/ids.ts';
import type { Choice, Choose, Context } from '../choice.ts';
import { freshOf, node, one } from '../choice.ts';
import { filledBy, planOf } from './messages.ts';

const alone = { how: 'exclusive', from: '/repository', path: '/repository', lock: '/repository' } as const;

/** A run begins in a session that does nothing, wants a directory alone, and comes to its first message. */
export const runWantsWorkspace: Choose = (context) => {
  const { state, now, limits } = context;
  const queued = new Set([...state.inputs.values()].map((input) => input.sessionId));
  const idle = [...state.sessions.values()].filter((row) => row.laneTurn === null && !queued.has(row.id));
  const session = one(idle, context.a);
  if (!session) return undefined;
  const id = freshOf(context).at('run', 0);
  const about = { now, id, project: 'default', name: `run ${now}`, sessionId: session.id };
  const workspace = { ...alone, checkout: null };
  return {
    call: { rule: 'beginRun', command: { ...about, plan: planOf(context), workspace } },
    follow: () => ({
      ...advanced(context, id),
      follow: () => {
        const command = { now, sessionId: session.id, node, limits, fresh: new FreshIds(context.ids) };
        return { call: { rule: 'takeLane', command } };
      },
    }),
  };
};

/** A run that is in line for a workspace, or has it, is given up. */
export const runIsGivenUp: Choose = (context) => {
  const { state, now, a } = context;
  const row = one(
    [...state.workspaces.values()].filter((each) => each.place !== null),
    a,
  );
  if (!row) return undefined;
  const request = { actor: { kind: 'person' } as const, at: now };
  const command = { now, id: row.runId, request, fresh: new FreshIds(context.ids) };
  return { call: { rule: 'cancelRun', command }, follow: () => advanced(context, row.runId) };
};

function advanced(context: Context, id: RunId): Choice {
  const { state, now, ids } = context;
  const moves = state.runs.get(id)?.moves ?? 0;
  const command = { now, id, moves, text: filledBy(context), fresh: new FreshIds(ids) };
  return { call: { rule: 'advance', command } };
}
