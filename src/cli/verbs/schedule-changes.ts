import { type Command, Option } from 'commander';
import { resolve } from 'node:path';
import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import type { Schedule } from '../../contract/schedule.ts';
import type { ScheduleInputSent } from '../../contract/schedule-input.ts';
import { toInstant } from '../../contract/text.ts';
import { parseRule } from '../../schedules/rule/rule.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { instantWords, ruleWords } from '../schedule-words.ts';
import { plainLine } from '../../words/text.ts';
import { defined, type Options, type Registrar, requiredText, textOf } from '../verb.ts';

/** `stemma schedule add | rm | trigger | pause | resume | stop | backfill`. */
export function addChangeVerbs({ program, verb }: Registrar): void {
  addAddVerb({ program, verb });
  named(program, 'rm', 'remove a schedule; a run that is at work goes on').action(verb(remove));
  named(program, 'trigger', 'begin a run now, also while the schedule is paused').action(verb(trigger));
  withReason(named(program, 'pause', 'skip its instants from now on')).action(verb(change('pauseSchedule')));
  named(program, 'resume', 'go on with the next instant; what was skipped stays skipped').action(
    verb(change('resumeSchedule')),
  );
  withReason(named(program, 'stop', 'cancel its runs and give up what waits; the next instant comes')).action(
    verb(stop),
  );
  named(program, 'backfill', 'run the instants of a range in the past that have not run, one after the other')
    .requiredOption('--from <time>', 'the first instant that counts: 2027-01-01, 2027-01-01T09:00, or with Z')
    .requiredOption('--to <time>', 'instants before this one count')
    .option('--dry-run', 'only show which they are')
    .action(verb(backfill));
}

function addAddVerb({ program, verb }: Registrar): void {
  named(program, 'add', 'add a schedule by flags; those of a file come by "schedule apply"')
    .option('--cron <expression>', 'when: a cron expression, in quotes')
    .option('--every <duration>', 'when: so much time from one to the next, such as 15m')
    .option('--at <time>', 'when: once, at a local time of its zone, or one with Z')
    .option('--after <schedule>', 'when: after the run of this schedule has succeeded')
    .option('--timezone <zone>', 'an IANA time zone (else UTC)')
    .requiredOption('--agent <name>', 'the agent profile')
    .option('--cwd <dir>', 'where the agent works (else here)')
    .requiredOption('--message <text>', 'a message; give it again for the next one', collected)
    .option('--session <mode>', 'fresh (the default) or keep')
    .option('--only-if <command>', 'a shell command; anything but exit code 0 skips the occurrence')
    .addOption(
      new Option('--overlap <policy>', 'what becomes of an instant while a run is at work').choices([
        'skip',
        'queueOne',
        'cancelOther',
        'allow',
      ]),
    )
    .option('--notify <target>', 'a target that is told; give it again for the next one', collected)
    .option('--label <word>', 'a word to find it by; give it again for the next one', collected)
    .option('--replace', 'replace the whole of the schedule that has this name')
    .action(verb(add));
}

function named(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .argument('<name>', 'the schedule: its name, or project/name');
}

function withReason(command: Command): Command {
  return command.option('--reason <text>', 'why, for the record');
}

function collected(text: string, before: string[] = []): string[] {
  return [...before, text];
}

function listOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined;
}

async function add(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const id = requiredText(args[0], 'name');
  const after = textOf(options['after']);
  const body = {
    agent: requiredText(options['agent'], 'agent'),
    cwd: resolve(context.deps.cwd, textOf(options['cwd']) ?? '.'),
    messages: listOf(options['message']) ?? [],
    ...defined({
      cron: textOf(options['cron']),
      every: textOf(options['every']),
      at: textOf(options['at']),
      after: after === undefined ? undefined : { schedule: after },
      timezone: textOf(options['timezone']),
      session: textOf(options['session']),
      onlyIf: textOf(options['onlyIf']),
      overlap: textOf(options['overlap']),
      notify: listOf(options['notify']),
      labels: listOf(options['label']),
    }),
  } as ScheduleInputSent;
  const client = await context.connect();
  if (options['replace'] !== true) await checkIsNew(client, id);
  return say(context, await client.call('putSchedule', { id, body }));
}

async function checkIsNew(client: StemmaClient, id: string): Promise<void> {
  const there = await client.call('getSchedule', { id }).catch((thrown: unknown) => {
    if (thrown instanceof StemmaError && thrown.code === 'NOT_FOUND') return undefined;
    throw thrown;
  });
  if (!there) return;
  const name = `${there.project}/${there.name}`;
  const message = `There is a schedule ${plainLine(name)} already; nothing was changed. Use --replace to replace all of it.`;
  throw new StemmaError('ILLEGAL_STATE', message, { id: there.id });
}

async function remove(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const item = await client.call('removeSchedule', { id: requiredText(args[0], 'name') });
  if (item.origin === 'file') context.talk('It came from a file: take it out there too, or it comes back.');
  return say(context, item);
}

function change(name: 'pauseSchedule' | 'resumeSchedule') {
  return async (context: CliContext, args: readonly unknown[], options: Options): Promise<number> => {
    const client = await context.connect();
    const id = requiredText(args[0], 'name');
    const reason = textOf(options['reason']);
    const item =
      name === 'pauseSchedule'
        ? await client.call(name, { id, body: defined({ reason }) })
        : await client.call(name, { id, body: {} });
    return say(context, item);
  };
}

function say(context: CliContext, item: Schedule): number {
  if (context.isJson) context.document(item);
  else {
    const { project, name, state, next, definition } = item;
    const coming = next === undefined ? '' : `; next ${instantWords(next, definition.timezone)}`;
    const when = state === 'paused' ? '; what comes is skipped until it is resumed' : coming;
    context.data(plainLine(`${project}/${name}: ${state}; ${ruleWords(definition)}${when}`));
  }
  return exitCodes.ok;
}

async function trigger(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const answer = await client.call('triggerSchedule', { id: requiredText(args[0], 'name'), body: {} });
  if (context.isJson) context.document(answer);
  else {
    context.data(answer.runId);
    if (answer.reason !== undefined) context.talk(`${answer.state}: ${plainLine(answer.reason)}`);
    context.talk(`stemma tree ${answer.runId} --follow shows it.`);
  }
  return exitCodes.ok;
}

async function stop(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const body = defined({ reason: textOf(options['reason']) });
  const answer = await client.call('stopSchedule', { id: requiredText(args[0], 'name'), body });
  if (context.isJson) context.document(answer);
  else {
    for (const runId of answer.runs) context.data(runId);
    context.talk(`${answer.runs.length} runs cancelled, ${answer.skipped.length} instants given up.`);
  }
  return exitCodes.ok;
}

async function backfill(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const id = requiredText(args[0], 'name');
  const { timezone } = (await client.call('getSchedule', { id })).definition;
  const from = timeIn(timezone, textOf(options['from']) ?? '', '--from');
  const to = timeIn(timezone, textOf(options['to']) ?? '', '--to');
  const body = { from, to, dryRun: options['dryRun'] === true };
  const answer = await client.call('backfillSchedule', { id, body });
  if (context.isJson) {
    context.document(answer);
    return exitCodes.ok;
  }
  for (const { instant, was } of answer.due)
    context.data(`${instantWords(instant, timezone)}${was === undefined ? '' : `  (${was})`}`);
  const verb = answer.dryRun ? 'would run' : 'run now, oldest first';
  const left = answer.left === 0 ? '' : `; ${answer.left} have run or are at work`;
  context.talk(`${answer.due.length} instants ${verb}${left}.`);
  return exitCodes.ok;
}

/** An instant of the wire from what a person writes: a day or a local time of the zone, or a time with Z or an offset. */
function timeIn(timezone: string, text: string, flag: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const read = parseRule({ at: isDay ? `${text}T00:00` : text, timezone });
  if ('rule' in read && read.rule.kind === 'at') return toInstant(read.rule.instant);
  const message = `${flag}: "${plainLine(text)}" is no time; write 2027-01-01, 2027-01-01T09:00 or 2027-01-01T09:00Z.`;
  throw new StemmaError('INVALID_INPUT', message);
}
