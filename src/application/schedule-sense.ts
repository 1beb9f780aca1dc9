import { stat } from 'node:fs/promises';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import type { Answer } from '../api/ports.ts';
import { joinPath, sayIssues } from '../contract/issues.ts';
import type { InputIssue } from '../contract/issues.ts';
import { checkSchedules } from '../contract/schedule-checks.ts';
import type { ScheduleInput } from '../contract/schedule-input.ts';
import { budgetOf } from '../workflows/planned-message.ts';
import { refusalOfBudgets } from './budgets.ts';
import { workflowIssues } from './schedule-workflow-sense.ts';
import type { SchedulingContext } from './scheduling-context.ts';

/**
 * Why schedules of a project, each well-formed, make no sense with what else there is: `INVALID_INPUT` with an issue for
 * each mistake. `root` is what the paths begin with; empty: those of a single schedule begin with its own keys.
 */
export async function refusalOfInput(
  context: SchedulingContext,
  project: string,
  said: Readonly<Record<string, ScheduleInput>>,
  root: '' | 'schedules',
  options: { readonly others?: 'kept' | 'not from files' } = {},
): Promise<Extract<Answer<never>, { ok: false }> | undefined> {
  const { agents } = context;
  const known = await context.store.read(() => ask('schedulesOf', project));
  const found = checkSchedules(said, {
    agents: agents.list().map(({ profile }) => profile.name),
    refusalOfBudget: (agent, budget) => refusalOfBudgets(agents, agent, [budgetOf(budget)])?.message,
    targets: context.targets(),
    others: othersOf(known, options.others ?? 'kept'),
  });
  const issues = found.map(
    ({ path: [name, ...rest], ...issue }): InputIssue => ({
      ...issue,
      path: joinPath(root === '' ? rest : [root, name, ...rest]),
    }),
  );
  issues.push(...(await directoryIssues(said, known, root)));
  issues.push(...(await workflowIssues(context, said, { project, known, root })));
  if (issues.length === 0) return undefined;
  return { ok: false, code: 'INVALID_INPUT', message: `${sayIssues(issues)}.`, data: { issues } };
}

/**
 * The directories that are not there. One that a schedule has already is no mistake of whoever says the same again: a disk
 * that is not mounted keeps no server from its other schedules, and what is due meanwhile is skipped, with a notification.
 */
async function directoryIssues(
  said: Readonly<Record<string, ScheduleInput>>,
  known: readonly Schedule[],
  root: '' | 'schedules',
): Promise<InputIssue[]> {
  const before = new Map(known.map(({ name, definition }) => [name, definition.cwd]));
  const issues = await Promise.all(
    Object.entries(said).map(async ([name, { cwd }]): Promise<InputIssue[]> => {
      if (before.get(name) === cwd) return [];
      const isThere = await stat(cwd).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if (isThere) return [];
      const path = joinPath(root === '' ? ['cwd'] : [root, name, 'cwd']);
      return [{ path, message: `there is no directory ${cwd}` }];
    }),
  );
  return issues.flat();
}

/** The other schedules of the project, by the one that each runs after; those of a file are replaced by an apply. */
function othersOf(
  known: readonly Schedule[],
  which: 'kept' | 'not from files',
): ReadonlyMap<string, string | null> {
  const others = known.filter(({ origin }) => which === 'kept' || origin !== 'file');
  return new Map(
    others.map(({ name, definition: { when } }) => [name, 'after' in when ? when.after.schedule : null]),
  );
}
