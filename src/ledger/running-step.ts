import type { SessionId } from '../base/ids.ts';
import { isOfSession } from './dependency.ts';
import type { Execution } from './execution.ts';
import { isSettled } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';

/** One step of a workflow, as somebody asks for it. */
export interface WantedStep {
  readonly workflow: string;
  readonly group: string | null;
  readonly step: string;
}

/** The key of a workflow that was asked for: asked for again, it is another attempt of it. */
export function keyOfWorkflow({ workflow, group }: Pick<WantedStep, 'workflow' | 'group'>): string {
  return `workflow:${withGroup(workflow, group)}`;
}

/** The key of a step that was asked for alone. */
export function keyOfStep({ workflow, group, step }: WantedStep): string {
  return `step:${withGroup(`${workflow}/${step}`, group)}`;
}

/**
 * The execution that carries out a step now, somewhere in the open trees of a session and below what runs in it: asked
 * for alone, or the attempt of a workflow that was asked for as a whole. It is looked for in the decision that would
 * begin another one, so two who ask at once get the same.
 */
export function* runningStep(wanted: WantedStep, sessionId: SessionId): Asking<Execution | undefined> {
  const roots = new Set((yield* ask('openOwnedBy', sessionId)).map((row) => row.rootId));
  for (const root of roots) {
    const alone = yield* ask('latestKeyed', root, keyOfStep(wanted));
    if (alone && (yield* isAtWork(alone, sessionId))) return alone;
    for (const group of new Set([wanted.group, null])) {
      const whole = yield* ask('latestKeyed', root, keyOfWorkflow({ ...wanted, group }));
      if (!whole || !(yield* isAtWork(whole, sessionId))) continue;
      const attempt = yield* attemptIn(whole, wanted, group);
      if (attempt && (yield* isAtWork(attempt, sessionId))) return attempt;
    }
  }
  return undefined;
}

/** Of a workflow that runs for all its groups, the steps are those of the workflow of the group, which is a step of it. */
function* attemptIn(
  whole: Execution,
  wanted: WantedStep,
  group: string | null,
): Asking<Execution | undefined> {
  const isForAll = group !== wanted.group && wanted.group !== null;
  const of = isForAll ? yield* attemptOf(whole, wanted.group ?? '') : whole;
  return of && (yield* attemptOf(of, wanted.step));
}

function* attemptOf(whole: Execution, name: string): Asking<Execution | undefined> {
  const step = yield* ask('graphStepNamed', whole.id, name);
  return step?.state === 'running' && step.currentId !== null
    ? yield* ask('execution', step.currentId)
    : undefined;
}

function* isAtWork(row: Execution, sessionId: SessionId): Asking<boolean> {
  if (isSettled(row.state) || row.cancelRequested !== null) return false;
  return yield* isOfSession(row, sessionId);
}

function withGroup(name: string, group: string | null): string {
  return group === null ? name : `${name}:${group}`;
}
