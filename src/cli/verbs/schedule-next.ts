import { StemmaError } from '../../base/errors.ts';
import { toInstant } from '../../contract/text.ts';
import { previewInstants } from '../../schedules/rule/preview.ts';
import { findConfigFile } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { loadScheduleFile } from '../schedule-file.ts';
import { distanceWords, ruleOf, ruleWords, type SaidWhen, zoneOf } from '../schedule-words.ts';
import { printPage } from '../table.ts';
import { plainLine } from '../../words/text.ts';
import { numberOf, type Options, type Registrar, requiredText, textOf, wholeNumber } from '../verb.ts';

/** `stemma schedule next`: the next instants, with what the clocks do to them; of a file, without a server. */
export function addNextVerb({ program, verb }: Registrar): void {
  program
    .command('next')
    .description(
      'the next instants of a schedule, in its zone and in yours; needs no server for one of a file',
    )
    .argument('<name>', 'the schedule: its name, or project/name')
    .option('-n, --count <n>', 'how many', wholeNumber(1, 1_000), 5)
    .option('--config <file>', 'look only into this file (else into ./stemma.yaml, then at the server)')
    .action(verb(next));
}

async function next(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const name = requiredText(args[0], 'name');
  const said = await findSaid(context, name, textOf(options['config']));
  const { timezone = 'UTC' } = said.when;
  const rule = ruleOf(said.when);
  const now = context.deps.clock.now();
  const personalZone = zoneOf(context.deps.env['TZ'] || new Intl.DateTimeFormat().resolvedOptions().timeZone);
  const count = numberOf(options['count']) ?? 5;
  const shown = rule ? previewInstants(rule, { from: now, count, zone: zoneOf(timezone), personalZone }) : [];
  const items = shown.map(({ instant, dst, ...rest }) => ({
    instant: toInstant(instant),
    ...rest,
    ...(dst ? { note: dst.text } : {}),
  }));
  const note = said.note ?? noteOf(said.when, shown.length);
  if (context.isJson) {
    context.document({ schedule: name, from: said.from, timezone, items, ...(note ? { note } : {}) });
    return 0;
  }
  const rows = shown.map(({ instant, local, personal, dst }) => [
    local,
    personal,
    distanceWords(instant, now),
    dst?.text ?? '',
  ]);
  const heading = [`IN ITS ZONE (${timezone})`, 'IN YOURS', '', ''];
  const exitCode = printPage(context, { items }, heading, rows, note ?? '');
  if (rows.length > 0) context.talk(`${ruleWords(said.when)}; from ${said.from}.${note ? ` ${note}` : ''}`);
  return exitCode;
}

interface Found {
  readonly when: SaidWhen;
  /** Where it was found. */
  readonly from: string;
  readonly note?: string;
}

// What stands in the file is what its writer wants to see; whether the server has it already is another question.
async function findSaid(context: CliContext, name: string, named: string | undefined): Promise<Found> {
  const { cwd } = context.deps;
  const file = context.isServerNamed && named === undefined ? undefined : findConfigFile(cwd, named);
  if (file !== undefined) {
    const { project, schedules = {} } = await loadScheduleFile(cwd, file);
    const short = name.startsWith(`${project}/`) ? name.slice(project.length + 1) : name;
    const found = Object.hasOwn(schedules, short) ? schedules[short] : undefined;
    if (found) return { when: found, from: named ?? 'stemma.yaml' };
    if (named !== undefined) {
      const there = Object.keys(schedules).join(', ') || 'none';
      const text = `${named} has no schedule "${plainLine(name)}"; there are ${plainLine(there)}.`;
      throw new StemmaError('NOT_FOUND', text, { id: name });
    }
  }
  const client = await context.connect();
  const { definition, state } = await client.call('getSchedule', { id: name });
  const note = state === 'paused' ? 'It is paused: these will be skipped.' : undefined;
  return { when: definition, from: 'the server', ...(note ? { note } : {}) };
}

function noteOf({ after }: SaidWhen, count: number): string | undefined {
  if (after !== undefined)
    return `It runs after ${plainLine(after.schedule)}, and has no instants of its own.`;
  return count === 0 ? 'It has no more instants.' : undefined;
}
