import { reach } from '../base/faults.ts';
import type { ExecutionId } from '../base/ids.ts';
import { startCheck } from '../ledger/check.ts';
import type { Ending } from '../ledger/decision.ts';
import type { Execution } from '../ledger/execution.ts';
import type { Graph } from '../ledger/graph.ts';
import { placeOf, plannedAt, type RunRow } from '../ledger/plan.ts';
import type { Gate } from '../ledger/planned-message.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import { settle } from '../ledger/settle.ts';
import { checkOutputs, mayStart, placeOfAttempt, refusalOf } from './outputs.ts';
import type { RunsContext } from './ports.ts';
import type { AttemptPlace } from './step-ports.ts';

/**
 * Runs the check of a message when everything else below it is closed: its command, that of its gate, then its outputs. Every exit code
 * must be 0. After a restart commands are adopted, and those that have ended are not run again. Rejects with `STOPPING` when aborted:
 * the commands run on.
 */
export async function runCheck(
  context: RunsContext,
  messageId: ExecutionId,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, ids, commands } = context;
  const started = await store.decide(() => startCheck({ now: clock.now(), messageId }));
  const ready = started.ok ? started.value : undefined;
  if (!ready || ready.message.check === null) return;
  const { message, check } = ready;
  const what = await store.read(() => whatToCheck(message));
  const ending = await endingOf(context, check, what, signal);
  reach('check.found');
  await store.decide(() => settle({ now: clock.now(), id: check.id, noticeId: ids.make('notice'), ending }));
  reach('check.settled');
  await commands.forget(check.id);
}

interface WhatToCheck {
  readonly commands: readonly string[];
  readonly outputs: Gate['outputs'];
  readonly cwd: string;
  readonly answer: string | null;
  readonly place: AttemptPlace | null;
  /** The workflow whose step it is a message of. */
  readonly graph: Graph | undefined;
  /** The row that the message is for. */
  readonly row: RunRow | undefined;
}

function* whatToCheck(message: Execution): Asking<WhatToCheck> {
  const { runsIn, runId, runIndex, parentId, rootId } = message;
  const session = runsIn === null ? undefined : yield* ask('session', runsIn);
  const run = runId === null ? undefined : yield* ask('run', runId);
  const planned = run && runIndex !== null ? plannedAt(run, runIndex) : undefined;
  const host = parentId === null ? undefined : yield* ask('execution', parentId);
  const answer = runsIn === null ? undefined : yield* ask('lastAnswer', runsIn, rootId);
  const gate = planned?.gate;
  const step = host && (yield* ask('graphOfStep', host.id));
  const place = run && runIndex !== null ? placeOf(run, runIndex).row : null;
  const row = run && place !== null ? yield* ask('runRow', run.id, place) : undefined;
  const named = gate ? [planned.check, gate.command] : [message.check];
  return {
    commands: named.filter((command) => command !== null),
    outputs: gate?.outputs ?? null,
    cwd: session?.cwd ?? '.',
    answer: answer ?? message.result,
    place: host ? yield* placeOfAttempt(host) : null,
    graph: step && (yield* ask('graph', step.graphId)),
    row,
  };
}

async function endingOf(
  context: RunsContext,
  { id }: Execution,
  what: WhatToCheck,
  signal: AbortSignal,
): Promise<Ending> {
  let result: string | null = null;
  const said = what.graph && (await context.steps.texts.environment(what.graph, {}, what.row));
  if (said && !said.ok)
    return { state: 'failed', result, error: { code: 'CHECK_FAILED', message: said.message } };
  const env = said?.env;
  for (const [part, command] of what.commands.entries()) {
    const subject = { id, part, mayStart: mayStart(context, id) };
    const end = await context.commands.run(subject, command, what.cwd, signal, env);
    reach('check.ran');
    result = end.output;
    if (end.exitCode !== 0)
      return { state: 'failed', result, error: { code: 'CHECK_FAILED', message: refusalOf(command, end) } };
  }
  if (what.outputs === null) return { state: 'succeeded', result, error: null };
  const found = await checkOutputs(context, { ...what, id, outputs: what.outputs, env, signal });
  // What was found is kept with the check: the step takes it from there when it ends.
  return found.ok
    ? { state: 'succeeded', result: JSON.stringify(found.values), error: null }
    : { state: 'failed', result, error: found.error };
}
