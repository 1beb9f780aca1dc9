import { findNearest } from '../base/nearest.ts';
import type { Budget } from './budget.ts';
import type { ScheduleOnDisk } from './schedule-input.ts';

/** What schedules are held against: what else there is. */
export interface ScheduleFacts {
  readonly agents: readonly string[];
  /** Why an agent that is there takes no such budget, if so. */
  readonly refusalOfBudget: (agent: string, budget: Budget) => string | undefined;
  /** The names of the targets of notifications. */
  readonly targets: readonly string[];
  /** The other schedules of the project: the name of the one that each runs after, or null. */
  readonly others?: ReadonlyMap<string, string | null>;
}

/** What makes no sense, and where: the path begins with the name of the schedule. */
export interface ScheduleIssue {
  readonly path: readonly [string, ...(string | number)[]];
  readonly message: string;
  readonly nearest?: string;
}

type Said = Pick<
  ScheduleOnDisk,
  'agent' | 'notify' | 'after' | 'budget' | 'messages' | 'session' | 'workspace'
>;

/**
 * What of some schedules of one project, each well-formed, makes no sense together with what else there is: agents and
 * targets that are not there, a budget that nobody could keep, a dependency on nothing or in a circle.
 */
export function checkSchedules(
  schedules: Readonly<Record<string, Said>>,
  facts: ScheduleFacts,
): ScheduleIssue[] {
  const follows = new Map(facts.others);
  for (const [name, said] of Object.entries(schedules)) follows.set(name, said.after?.schedule ?? null);
  return Object.entries(schedules).flatMap(([name, said]) => [
    ...agentIssues(name, said, facts),
    ...targetIssues(name, said, facts),
    ...dependencyIssues(name, said, follows),
    ...workspaceIssues(name, said),
  ]);
}

function agentIssues(name: string, said: Said, facts: ScheduleFacts): ScheduleIssue[] {
  const { agent, budget, messages = [] } = said;
  // Who works in a workflow, that says itself.
  if (agent === undefined) return [];
  if (!facts.agents.includes(agent))
    return [missing([name, 'agent'], `no agent "${agent}" is configured`, agent, facts.agents)];
  const own = budgetIssue([name, 'budget'], agent, budget, facts);
  const ofMessages = messages.flatMap((message, index) =>
    budgetIssue([name, 'messages', index, 'budget'], agent, message.budget, facts),
  );
  return [...own, ...ofMessages];
}

function budgetIssue(
  path: ScheduleIssue['path'],
  agent: string,
  budget: Budget | undefined,
  facts: ScheduleFacts,
): ScheduleIssue[] {
  const message = budget && facts.refusalOfBudget(agent, budget);
  // Issues are parts of a sentence.
  return message === undefined ? [] : [{ path, message: message.replace(/\.$/, '') }];
}

function targetIssues(name: string, { notify = [] }: Said, { targets }: ScheduleFacts): ScheduleIssue[] {
  return notify.flatMap((target, index) =>
    targets.includes(target)
      ? []
      : [missing([name, 'notify', index], `no target "${target}" is configured`, target, targets)],
  );
}

function dependencyIssues(
  name: string,
  { after }: Said,
  follows: ReadonlyMap<string, string | null>,
): ScheduleIssue[] {
  if (after === undefined) return [];
  const path = [name, 'after', 'schedule'] as const;
  if (!follows.has(after.schedule)) {
    const others = [...follows.keys()].filter((other) => other !== name);
    return [
      missing(path, `there is no schedule "${after.schedule}" in this project`, after.schedule, others),
    ];
  }
  const circle = circleFrom(name, follows);
  if (circle === undefined) return [];
  const message = `these run after each other in a circle: ${circle.join(', ')}; one of them must have a time of its own`;
  return [{ path, message }];
}

/** A conversation has one directory for good, and these are a run's own. */
function workspaceIssues(name: string, { session, workspace }: Said): ScheduleIssue[] {
  const isKept = session === 'keep' || (typeof session === 'object' && session.mode === 'keep');
  if (!isKept || (workspace !== 'worktree' && workspace !== 'scratch')) return [];
  const message = `a kept conversation stays in one directory, and a ${workspace} is of one run; use session: fresh, or workspace: exclusive`;
  return [{ path: [name, 'workspace'], message }];
}

/** The names on the way from one schedule back to itself; undefined when the way ends. */
function circleFrom(name: string, follows: ReadonlyMap<string, string | null>): string[] | undefined {
  const way = [name];
  for (let next = follows.get(name); next != null; next = follows.get(next)) {
    if (next === name) return way;
    // A circle further on is told where it is.
    if (way.includes(next)) return undefined;
    way.push(next);
  }
  return undefined;
}

function missing(
  path: ScheduleIssue['path'],
  what: string,
  word: string,
  known: readonly string[],
): ScheduleIssue {
  const nearest = findNearest(word, known);
  const some = known.slice(0, 10).join(', ');
  const hint = nearest === undefined ? `there are ${some || 'none'}` : `did you mean "${nearest}"?`;
  return { path, message: `${what}; ${hint}`, ...(nearest === undefined ? {} : { nearest }) };
}
