import type { ScheduleCommands, ScheduleQueries } from '../api/ports.ts';
import type { SessionId } from '../base/ids.ts';
import { StemmaError } from '../base/errors.ts';
import type { Schedule } from '../contract/schedule.ts';
import type { ToolArguments, ToolName } from '../contract/tools.ts';
import type { Session } from '../ledger/session.ts';
import { ask } from '../ledger/questions.ts';
import type { ListedSchedule, ToolAnswer, ToolResults } from '../mcp/ports.ts';
import { variablesIn } from '../schedules/templates.ts';
import type { ApplicationContext } from './context.ts';

/** Where the tools about schedules go. */
export interface ScheduleServices {
  readonly schedules: ScheduleCommands;
  readonly scheduleQueries: ScheduleQueries;
}

/** The tools about schedules. */
export type ScheduleTool = 'list_schedules' | 'trigger_schedule' | 'create_schedule';

/** What a profile may do with schedules, least first; each includes those before it. */
const rights = ['none', 'trigger', 'write'] as const;
type Right = (typeof rights)[number];

const needed: Readonly<Record<ScheduleTool, Right>> = {
  list_schedules: 'trigger',
  trigger_schedule: 'trigger',
  create_schedule: 'write',
};

/** Whether it is a tool about schedules. */
export function isScheduleTool(tool: ToolName): tool is ScheduleTool {
  return Object.hasOwn(needed, tool);
}

/** The tools about schedules that the profile of a session allows. */
export async function allowedScheduleTools(
  context: ApplicationContext,
  sessionId: SessionId,
): Promise<ScheduleTool[]> {
  const { right } = await callerOf(context, sessionId);
  return (Object.keys(needed) as ScheduleTool[]).filter((tool) => includes(right, needed[tool]));
}

/** Carries out a call about schedules, where the profile allows it. A run that it begins is a root of its own. */
export async function callScheduleTool<Name extends ScheduleTool>(
  context: ApplicationContext,
  services: ScheduleServices,
  sessionId: SessionId,
  tool: Name,
  args: ToolArguments<Name>,
): Promise<ToolAnswer<ToolResults[Name]>> {
  const { right, session } = await callerOf(context, sessionId);
  if (!session || !includes(right, needed[tool])) {
    const message = `The profile of this agent does not allow ${tool} (schedules: ${right}; it needs ${needed[tool]}). Ask a person.`;
    return { ok: false, code: 'FORBIDDEN', message };
  }
  const handler = handlers[tool] as Handler<Name>;
  return handler(services, session, args);
}

type Handler<Name extends ScheduleTool> = (
  services: ScheduleServices,
  session: Session,
  args: ToolArguments<Name>,
) => Promise<ToolAnswer<ToolResults[Name]>>;

const handlers: { readonly [Name in ScheduleTool]: Handler<Name> } = {
  list_schedules: async ({ scheduleQueries: queries }, _session, { project }) => {
    const { items } = await queries.list({ limit: listLimit, ...(project === undefined ? {} : { project }) });
    return { ok: true, result: { items: items.map(listed) } };
  },
  trigger_schedule: async ({ scheduleQueries: queries, schedules }, session, { name }) => {
    const [first = '', second] = name.split('/');
    const ref = second === undefined ? { name: first } : { project: first, name: second };
    const found = await queries.find(ref);
    if (found.found === 'several') {
      const message = `name: several projects have a schedule ${name}: ${found.matches.join(', ')}; give one of these.`;
      return { ok: false, code: 'AMBIGUOUS_ID', message };
    }
    if (found.found === 'none') {
      const message = `name: there is no schedule ${name}; list_schedules shows those that there are.`;
      return { ok: false, code: 'NOT_FOUND', message };
    }
    const triggered = await schedules.trigger(found.id, callOf(session));
    return triggered.ok ? { ok: true, result: triggered.value } : triggered;
  },
  create_schedule: createSchedule,
};

/** Most schedules that one listing shows. */
const listLimit = 200;

async function createSchedule(
  { schedules, scheduleQueries }: ScheduleServices,
  session: Session,
  args: ToolArguments<'create_schedule'>,
): Promise<ToolAnswer<ToolResults['create_schedule']>> {
  const { name, project = session.project, agent = session.agent, cwd = session.cwd, ...rest } = args;
  const place = readsEnvironment(rest);
  if (place !== undefined) {
    const message = `${place}: {{env.…}} is not for schedules that an agent makes; write the value itself.`;
    return { ok: false, code: 'INVALID_INPUT', message };
  }
  // The steps of a workflow have agents of their own.
  const who = rest.workflow !== undefined && args.agent === undefined ? {} : { agent };
  const put = await schedules.put({ project, name }, { ...rest, ...who, cwd }, callOf(session));
  if (!put.ok) return put;
  const made = await scheduleQueries.get(put.value);
  if (!made) throw new StemmaError('INTERNAL', `schedule ${put.value} is not there`);
  return { ok: true, result: listed(made) };
}

/** Where the server's own environment is asked for, which is not the agent's to read; undefined where it is not. */
function readsEnvironment({
  messages = [],
  workflow,
}: Pick<ToolArguments<'create_schedule'>, 'messages' | 'workflow'>): string | undefined {
  const index = messages.findIndex(({ text }) => variablesIn(text).length > 0);
  if (index >= 0) return `messages[${index}]`;
  const inputs = Object.entries(workflow?.inputs ?? {});
  const input = inputs.find(([, value]) => typeof value === 'string' && variablesIn(value).length > 0);
  return input && `workflow.inputs.${input[0]}`;
}

function callOf({ id }: Session) {
  return { caller: { kind: 'session', sessionId: id } } as const;
}

function listed({ project, name, state, next, lastRun, definition }: Schedule): ListedSchedule {
  const { cron, every, at, after, timezone } = definition;
  return {
    name: `${project}/${name}`,
    state,
    when: { cron, everyMs: every, at, after, timezone },
    next,
    lastRun,
  };
}

async function callerOf(
  { store, agents }: ApplicationContext,
  sessionId: SessionId,
): Promise<{ readonly session?: Session; readonly right: Right }> {
  const session = await store.read(() => ask('session', sessionId));
  if (!session) return { right: 'none' };
  return { session, right: agents.find(session.agent)?.profile.schedules ?? 'none' };
}

function includes(has: Right, needs: Right): boolean {
  return rights.indexOf(has) >= rights.indexOf(needs);
}
