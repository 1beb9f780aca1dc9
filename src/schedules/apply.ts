import type { FreshIds } from '../base/ids.ts';
import type { Refusal, Rule } from '../ledger/decision.ts';
import { Draft, refuse } from '../ledger/decision.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { ScheduleDefinition } from '../ledger/schedule-definition.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { dependencyOf, fullName, newSchedule } from '../ledger/schedule.ts';
import {
  addSchedule,
  editSchedule,
  areCaughtUp,
  isSameDefinition,
  refusalOfPast,
  refusalOfRemoval,
  removeSchedule,
  skipOpen,
} from './change.ts';

/** The schedules of a project that come from a file shall be these. */
export interface Apply {
  readonly now: number;
  readonly project: string;
  readonly wanted: ReadonlyMap<string, ScheduleDefinition>;
  /** It only says what it would do. */
  readonly isDry: boolean;
  readonly fresh: FreshIds;
}

/** What a file changes. */
export interface Applied {
  readonly created: readonly string[];
  readonly changed: readonly { readonly name: string; readonly before: ScheduleDefinition }[];
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
}

/** `behind`: rows were missing and have been written; ask again. */
export type ApplyAnswer = { readonly as: 'behind' } | ({ readonly as: 'done' } & Applied);

/**
 * Makes, edits and removes the schedules of a file in one transaction: all of it, or nothing. It touches only what came
 * from a file; a name that something else holds is refused.
 */
export function* apply(command: Apply): Rule<ApplyAnswer> {
  const draft = new Draft(command.now);
  const known = yield* ask('schedulesOf', command.project);
  const plan = planOf(command, known);
  const refused = refusalOf(command, known, plan);
  if (refused) return refused;
  if (command.isDry) return new Draft(command.now).done<ApplyAnswer>({ as: 'done', ...told(plan) });
  const touched = [...plan.edit.map(({ schedule }) => schedule), ...plan.remove];
  if (!(yield* areReady(draft, touched, plan.remove, command.fresh)))
    return draft.done<ApplyAnswer>({ as: 'behind' });
  for (const { name, definition } of plan.create) addSchedule(draft, made(command, name, definition));
  for (const { schedule, definition } of plan.edit) editSchedule(draft, schedule, definition);
  for (const schedule of plan.remove) removeSchedule(draft, schedule);
  return draft.done<ApplyAnswer>({ as: 'done', ...told(plan) });
}

interface Plan {
  readonly create: readonly { readonly name: string; readonly definition: ScheduleDefinition }[];
  readonly edit: readonly { readonly schedule: Schedule; readonly definition: ScheduleDefinition }[];
  readonly same: readonly string[];
  readonly remove: readonly Schedule[];
}

function planOf({ wanted }: Apply, known: readonly Schedule[]): Plan {
  const byName = new Map(known.map((schedule) => [schedule.name, schedule]));
  const create: { name: string; definition: ScheduleDefinition }[] = [];
  const edit: { schedule: Schedule; definition: ScheduleDefinition }[] = [];
  const same: string[] = [];
  for (const [name, definition] of wanted) {
    const schedule = byName.get(name);
    if (!schedule) create.push({ name, definition });
    else if (isSameDefinition(schedule.definition, definition)) same.push(name);
    else edit.push({ schedule, definition });
  }
  const remove = known.filter(({ origin, name }) => origin === 'file' && !wanted.has(name));
  return { create, edit, same, remove };
}

function told({ create, edit, same, remove }: Plan): Applied {
  return {
    created: create.map(({ name }) => name),
    changed: edit.map(({ schedule }) => ({ name: schedule.name, before: schedule.definition })),
    unchanged: same,
    removed: remove.map(({ name }) => name),
  };
}

function refusalOf(command: Apply, known: readonly Schedule[], plan: Plan): Refusal | undefined {
  const { project, wanted, now } = command;
  const foreign = known.find(({ origin, name }) => origin !== 'file' && wanted.has(name));
  if (foreign) {
    const message = `${fullName(foreign)} comes from ${foreign.origin === 'api' ? 'the API' : 'an agent'}: remove it, or give the one of the file another name.`;
    return refuse('ILLEGAL_STATE', message, { name: foreign.name, origin: foreign.origin });
  }
  const staying = known.filter(({ origin, name }) => origin !== 'file' && !wanted.has(name));
  const removed = new Map(plan.remove.map((schedule) => [fullName(schedule), schedule]));
  for (const dependent of staying) {
    const upstream = dependent.dependsOn === null ? undefined : removed.get(dependent.dependsOn);
    if (upstream) return refusalOfRemoval(upstream, dependent);
  }
  const after = new Map(staying.map((schedule) => [fullName(schedule), schedule.dependsOn]));
  for (const [name, definition] of wanted)
    after.set(fullName({ project, name }), dependencyOf(project, definition));
  for (const [name, definition] of wanted) {
    const why = whyUnsound(fullName({ project, name }), after);
    if (why !== undefined) return invalid(`schedules.${name}.after.schedule`, why);
    const isNew = isNewRule(name, definition, known);
    const past = isNew ? refusalOfPast(definition, now) : undefined;
    if (past) return invalid(`schedules.${name}.at`, past.message);
  }
  return undefined;
}

function isNewRule(name: string, definition: ScheduleDefinition, known: readonly Schedule[]): boolean {
  const before = known.find((schedule) => schedule.name === name);
  return !before || JSON.stringify(before.definition.when) !== JSON.stringify(definition.when);
}

/** Why the schedules after which one runs lead nowhere, if so. */
function whyUnsound(name: string, after: ReadonlyMap<string, string | null>): string | undefined {
  const way = [name];
  for (let next = after.get(name); next != null; next = after.get(next)) {
    if (way.includes(next)) return `these run after each other in a circle: ${way.join(', ')}`;
    if (!after.has(next)) return `there is no schedule ${next} to run after`;
    way.push(next);
  }
  return undefined;
}

function invalid(path: string, message: string): Refusal {
  return refuse('INVALID_INPUT', `${path}: ${message}`, { issues: [{ path, message }] });
}

/** Whether every instant of what is touched has its row, and nothing of what goes is open. What was missing is written. */
function* areReady(
  draft: Draft,
  touched: readonly Schedule[],
  going: readonly Schedule[],
  fresh: FreshIds,
): Asking<boolean> {
  if (!(yield* areCaughtUp(draft, touched, fresh))) return false;
  let isReady = true;
  for (const schedule of going) isReady = (yield* skipOpen(draft, schedule, 'removed')).isDone && isReady;
  return isReady;
}

function made({ now, project, fresh }: Apply, name: string, definition: ScheduleDefinition): Schedule {
  return newSchedule({
    id: fresh.at('schedule', name),
    project,
    name,
    origin: 'file',
    definition,
    createdAt: now,
  });
}
