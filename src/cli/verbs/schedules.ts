import type { Command } from 'commander';
import type { Occurrence, Schedule } from '../../contract/schedule.ts';
import { occurrenceStates } from '../../contract/schedule.ts';
import type { Run } from '../../contract/run.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { formatDuration } from '../../words/durations.ts';
import {
  distanceWords,
  instantWords,
  lastRunCell,
  occurrenceCell,
  ruleWords,
  doneWords,
  runCell,
  stateCell,
} from '../schedule-words.ts';
import { type Cell, printPage } from '../table.ts';
import { plainLine } from '../../words/text.ts';
import {
  defined,
  numberOf,
  type Options,
  type Registrar,
  requiredText,
  textOf,
  wholeNumber,
} from '../verb.ts';
import { addApplyVerb } from './schedule-apply.ts';
import { addChangeVerbs } from './schedule-changes.ts';
import { addNextVerb } from './schedule-next.ts';

/** `stemma schedule …`: what runs by itself, when, what became of each instant, and what is changed about it. */
export function addScheduleVerbs({ program, verb }: Registrar): void {
  const schedule = program
    .command('schedule')
    .description('what runs by itself: when, what became of each instant, and changing it');
  withPaging(schedule.command('ls').description('list the schedules, their next instant and their last run'))
    .option('--project <name>', 'only those of this project')
    .option('--label <label>', 'only those with this label')
    .option('--state <state>', 'only those in this state: active, paused, removed')
    .action(verb(list));
  named(schedule, 'show', 'all that a schedule says, and where it stands').action(verb(show));
  const group = { program: schedule, verb };
  addNextVerb(group);
  withPaging(named(schedule, 'occurrences', 'every instant, what became of it and why, newest first'))
    .option('--state <state>', `only those in this state: ${occurrenceStates.join(', ')}`)
    .action(verb(occurrences));
  withPaging(named(schedule, 'runs', 'the runs of a schedule, newest first'))
    .option('--state <state>', 'only those in this state: waiting, running, ended')
    .action(verb(runs));
  addApplyVerb(group);
  addChangeVerbs(group);
}

function named(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .argument('<name>', 'the schedule: its name, or project/name');
}

function withPaging(command: Command): Command {
  return command
    .option('--limit <n>', 'how many at most', wholeNumber(1, 500))
    .option('--cursor <cursor>', 'go on behind an earlier list');
}

const pagingOf = (options: Options) => ({
  state: textOf(options['state']),
  limit: numberOf(options['limit']),
  cursor: textOf(options['cursor']),
});

async function list(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const more = { project: textOf(options['project']), label: textOf(options['label']) };
  const page = await client.call('listSchedules', { query: defined({ ...pagingOf(options), ...more }) });
  const now = context.deps.clock.now();
  const rows = page.items.map((item) => scheduleRow(item, now));
  const heading = ['NAME', 'STATE', 'NEXT', 'LAST RUN', 'WHEN'];
  const empty =
    'There is no schedule. Write some into stemma.yaml and give stemma schedule apply, or stemma schedule add.';
  return printPage(context, page, heading, rows, empty);
}

function scheduleRow(item: Schedule, now: number): Cell[] {
  // What is paused skips its next instant: there is none at which it runs.
  const next = item.next === undefined || item.paused ? '' : distanceWords(Date.parse(item.next), now);
  return [nameOf(item), stateCell(item), next, lastRunCell(item, now), ruleWords(item.definition)];
}

function nameOf({ project, name }: Pick<Schedule, 'project' | 'name'>): string {
  return plainLine(`${project}/${name}`);
}

async function show(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const item = await client.call('getSchedule', { id: requiredText(args[0], 'name') });
  if (context.isJson) context.document(item);
  else for (const line of shownLines(item, context.deps.clock.now())) context.data(line);
  return exitCodes.ok;
}

function shownLines(item: Schedule, now: number): string[] {
  const { definition, paused, next } = item;
  const { timezone, agent, cwd, session, overlap, catchUp, messages = [], workflow } = definition;
  const why = paused?.reason === undefined ? '' : `: ${plainLine(paused.reason)}`;
  const since = paused ? ` since ${instantWords(paused.since, timezone)}${why}` : '';
  const fields: [string, string | undefined][] = [
    ['state', `${item.state}${since}`],
    ['when', ruleWords(definition)],
    ['next', next && nextWords(next, item, now)],
    ['last run', lastRunCell(item, now).text],
    ['workflow', workflow && workflowWords(workflow)],
    ['inputs', workflow && inputWords(workflow.inputs)],
    ['agent', agent && plainLine(agent)],
    ['directory', plainLine(cwd)],
    ['session', session?.mode],
    ['only if', definition.onlyIf && plainLine(definition.onlyIf)],
    ['overlap', overlap],
    ['catch-up', `${catchUp.policy}, within ${formatDuration(catchUp.window)}`],
    ['workspace', definition.workspace],
    ['notify', definition.notify.map(plainLine).join(', ') || undefined],
    ['labels', definition.labels.map(plainLine).join(', ') || undefined],
    ['origin', `${item.origin}, revision ${item.revision}`],
  ];
  const widest = Math.max(...fields.map(([name]) => name.length));
  return [
    nameOf(item),
    ...fields.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(widest)}  ${value}`])),
    ...messages.map(({ text }, index) => `  message ${index + 1}: ${plainLine(text)}`),
  ];
}

function workflowWords({ name, group, evaluation, timeout, retry }: SaidWorkflow): string {
  const more = [
    evaluation === false ? 'not evaluated' : '',
    timeout === undefined ? '' : `within ${formatDuration(timeout)}`,
    retry === undefined ? '' : `tried ${retry.max + 1} times at most`,
  ].filter((part) => part !== '');
  const title = group === undefined ? name : `${name} (${group})`;
  return plainLine([title, ...more].join(', '));
}

function inputWords(inputs: SaidWorkflow['inputs'] = {}): string | undefined {
  const words = Object.entries(inputs).map(([name, value]) => `${name}=${String(value)}`);
  return words.length === 0 ? undefined : plainLine(words.join(', '));
}

function nextWords(next: string, { paused, definition }: Schedule, now: number): string {
  const skipped = paused ? ', skipped while it is paused' : '';
  return `${instantWords(next, definition.timezone)} (${distanceWords(Date.parse(next), now)}${skipped})`;
}

type SaidWorkflow = NonNullable<Schedule['definition']['workflow']>;

async function occurrences(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const id = requiredText(args[0], 'name');
  const { definition } = await client.call('getSchedule', { id });
  const page = await client.call('listOccurrences', { id, query: defined(pagingOf(options)) });
  const rows = page.items.map((item) => occurrenceRow(item, definition.timezone));
  const empty = 'Nothing of it was due yet.';
  return printPage(context, page, ['INSTANT', 'BY', 'STATE', 'WHY'], rows, empty);
}

function occurrenceRow(item: Occurrence, zone: string): Cell[] {
  const { instant, trigger, reason, runId, until } = item;
  const deadline = until === undefined ? '' : `until ${instantWords(until, zone)}`;
  const why = [runId ?? '', plainLine(reason ?? ''), deadline].filter((part) => part !== '').join('; ');
  return [instantWords(instant, zone), trigger, occurrenceCell(item), why];
}

async function runs(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const id = requiredText(args[0], 'name');
  const { definition } = await client.call('getSchedule', { id });
  const page = await client.call('listScheduleRuns', { id, query: defined(pagingOf(options)) });
  const rows = page.items.map((item) => runRow(item, definition.timezone));
  return printPage(context, page, ['RUN', 'INSTANT', 'STATE', 'DONE', 'TOOK'], rows, 'It has not run yet.');
}

function runRow(item: Run, zone: string): Cell[] {
  const { id, instant, createdAt, endedAt } = item;
  const took =
    createdAt === undefined || endedAt === undefined
      ? ''
      : formatDuration(Date.parse(endedAt) - Date.parse(createdAt));
  const at = instant === undefined ? '' : instantWords(instant, zone);
  return [id, at, runCell(item), doneWords(item), took];
}
