import { basename } from 'node:path';
import { StemmaError } from '../../base/errors.ts';
import type { ApplyAnswer } from '../../contract/schedule.ts';
import { type InputIssue, joinPath, sayIssues } from '../../contract/issues.ts';
import { checkSchedules, type ScheduleFacts } from '../../contract/schedule-checks.ts';
import { toInstant } from '../../contract/text.ts';
import { nextInstant } from '../../schedules/rule/instants.ts';
import { withPlaces } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { loadScheduleFile, type ScheduleFile } from '../schedule-file.ts';
import { differenceCounts, differenceLines, instantWords, ruleOf, ruleWords } from '../schedule-words.ts';
import { tableLines } from '../table.ts';
import { plainLine } from '../../words/text.ts';
import { type Options, type Registrar, textOf } from '../verb.ts';

/** `stemma schedule apply`: makes the schedules of the server be those of a file. */
export function addApplyVerb({ program, verb }: Registrar): void {
  program
    .command('apply')
    .description('make the schedules of the server be those of a file; those that it has no more are removed')
    .argument('[file]', 'the file (else ./stemma.yaml)')
    .option(
      '--dry-run',
      'only show what would change; without a server, check the file and show what it says',
    )
    .action(verb(apply));
}

async function apply(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const named = textOf(args[0]);
  const read = await loadScheduleFile(context.deps.cwd, named);
  const dryRun = options['dryRun'] === true;
  const { project, schedules } = read;
  if (schedules === undefined) {
    const message = `${named ?? 'stemma.yaml'} says nothing of schedules; nothing was changed. Write some under "schedules:" (in what stemma init wrote, take the # away); "schedules: {}" says that there are none.`;
    throw new StemmaError('INVALID_CONFIG', message, { file: read.file, key: 'schedules' });
  }
  const send = async () => {
    const client = await context.connect();
    const body = { project, schedules: sent(schedules), dryRun };
    return client.call('applySchedules', { body }).catch((thrown: unknown) => {
      adviseRestart(context, read, thrown);
      throw thrown;
    });
  };
  const answer = await withPlaces(read.file, send, named ?? 'stemma.yaml').catch((thrown: unknown) => {
    const isAway = thrown instanceof StemmaError && thrown.code === 'UNREACHABLE';
    if (isAway && dryRun && !context.isServerNamed) return undefined;
    throw thrown;
  });
  if (answer === undefined) return showFile(context, read, named ?? 'stemma.yaml');
  if (context.isJson) context.document(answer);
  else sayDifference(context, answer);
  return exitCodes.ok;
}

/** What to do when the server refuses an agent or a target that this file describes: it was written there since it started. */
function adviseRestart(context: CliContext, read: ScheduleFile, thrown: unknown): void {
  const refused = thrown instanceof StemmaError ? thrown.data['issues'] : undefined;
  if (!Array.isArray(refused)) return;
  const described = describedBy(read);
  if (!(refused as readonly InputIssue[]).some(({ path }) => described.has(path))) return;
  context.talk(
    `${basename(read.file)} has what the server lacks: it read its agents and notify targets when it started. Restart it: stemma down, then stemma up.`,
  );
}

/** Where the schedules of a file name an agent or a target that the same file describes. */
function describedBy({ config, schedules = {} }: ScheduleFile): Set<string> {
  const { agents = {}, notify: targets = {} } = config;
  const found = Object.entries(schedules).flatMap(([name, { agent, notify = [] }]) => [
    ...(agent !== undefined && agent in agents ? [['schedules', name, 'agent']] : []),
    ...notify.flatMap((target, index) => (target in targets ? [['schedules', name, 'notify', index]] : [])),
  ]);
  return new Set(found.map(joinPath));
}

type Schedules = NonNullable<ScheduleFile['schedules']>;

// What was parsed is written again: durations as milliseconds, an instant as text.
function sent(schedules: Schedules) {
  const entries = Object.entries(schedules).map(([name, { at, ...said }]) => {
    const when = at === undefined ? {} : { at: typeof at === 'number' ? toInstant(at) : at };
    return [name, { ...said, ...when }] as const;
  });
  return Object.fromEntries(entries);
}

function sayDifference(context: CliContext, answer: ApplyAnswer): void {
  for (const line of differenceLines(answer)) context.data(line);
  const counts = differenceCounts(answer);
  context.talk(answer.dryRun ? `Nothing was changed; it would be: ${counts}.` : `${counts}.`);
}

function checkFile(schedules: Schedules, facts: ScheduleFacts): void {
  const found = checkSchedules(schedules, facts);
  if (found.length === 0) return;
  const issues = found.map((issue) => ({ ...issue, path: joinPath(['schedules', ...issue.path]) }));
  throw new StemmaError('INVALID_INPUT', `The schedules are not valid: ${sayIssues(issues)}.`, { issues });
}

/** What the file says, checked as far as that can be without a server. */
async function showFile(context: CliContext, read: ScheduleFile, shown: string): Promise<number> {
  const { file, project, schedules = {} } = read;
  await withPlaces(
    file,
    async () => checkFile(schedules, await context.deps.scheduleFacts({ configFile: file })),
    shown,
  );
  const now = context.deps.clock.now();
  const items = Object.entries(schedules).map(([name, said]) => {
    const rule = ruleOf(said);
    const next = rule && nextInstant(rule, now);
    return { name, when: ruleWords(said), next, timezone: said.timezone ?? 'UTC' };
  });
  if (context.isJson) {
    const shownItems = items.map(({ next, ...rest }) => ({
      ...rest,
      ...(next === undefined ? {} : { next: toInstant(next) }),
    }));
    context.document({ project, dryRun: true, file, schedules: shownItems });
    return exitCodes.ok;
  }
  const rows = items.map(({ name, when, next, timezone }) => [
    plainLine(`${project}/${name}`),
    next === undefined ? '' : instantWords(toInstant(next), timezone),
    when,
  ]);
  if (rows.length > 0) context.lines(tableLines(['NAME', 'NEXT', 'WHEN'], rows, context.style().columns));
  const verdict = rows.length === 1 ? '1 schedule is valid' : `${rows.length} schedules are valid`;
  context.talk(`${shown}: ${verdict}. No server runs here, so what would change is not known.`);
  return exitCodes.ok;
}
