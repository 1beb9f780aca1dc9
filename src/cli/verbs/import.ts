import { StemmaError } from '../../base/errors.ts';
import { type CrontabProposal, proposeFromCrontab } from '../../schedules/crontab/propose.ts';
import { parseZone } from '../../schedules/rule/rule.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { plainLine } from '../../words/text.ts';
import { readProblem, readTextFile } from '../text-file.ts';
import { type Options, type Registrar, textOf } from '../verb.ts';
import { resolve } from 'node:path';

/** `stemma import crontab`: proposes what another program's file would be as a part of `stemma.yaml`. Needs no server. */
export function addImportVerbs({ program, verb }: Registrar): void {
  program
    .command('import')
    .description("propose schedules for another program's file; nothing is changed")
    .command('crontab')
    .description('print a part of stemma.yaml with a schedule for each line of a crontab')
    .argument('[file]', 'a file, or - for standard input, the default: crontab -l | stemma import crontab')
    .option('--timezone <zone>', 'the zone of the machine whose crontab it is (else the one of this machine)')
    .option('--system', 'the lines name a user before the command, as in /etc/crontab')
    .action(verb(importCrontab));
}

async function importCrontab(
  context: CliContext,
  args: readonly unknown[],
  options: Options,
): Promise<number> {
  const text = await readInput(context, textOf(args[0]) ?? '-');
  const named = textOf(options['timezone']);
  const timezone = named ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = parseZone(timezone);
  if ('problem' in zone) {
    const what =
      named === undefined ? 'The zone of this machine cannot be used; name one with --timezone. ' : '';
    throw new StemmaError('INVALID_INPUT', `${what}${zone.problem.message}`);
  }
  const home = context.deps.homeDirectory;
  const proposal = proposeFromCrontab(text, { timezone, home, isSystem: options['system'] === true });
  if (context.isJson) context.document(proposal);
  else if (proposal.yaml !== '') context.deps.stdout.write(proposal.yaml);
  tell(context, proposal);
  return exitCodes.ok;
}

function tell(context: CliContext, { schedules, left }: CrontabProposal): void {
  if (schedules.length + left.length === 0) {
    context.talk('There is no line with a command.');
    return;
  }
  const were = left.length === 1 ? '1 line was' : `${left.length} lines were`;
  const proposed = schedules.length === 1 ? '1 schedule is' : `${schedules.length} schedules are`;
  context.talk(`${proposed} proposed; ${left.length === 0 ? 'every line was' : `${were} not`} carried.`);
  for (const { line, why } of left) context.talk(`  line ${line}: ${plainLine(why)}`);
}

async function readInput(context: CliContext, file: string): Promise<string> {
  if (file === '-') {
    if (!context.deps.isStdinTty) return await context.deps.readStdin();
    const text =
      'There is no crontab on standard input; name a file, or pipe it: crontab -l | stemma import crontab.';
    throw new StemmaError('INVALID_INPUT', text);
  }
  try {
    return await readTextFile(resolve(context.deps.cwd, file));
  } catch (thrown) {
    throw new StemmaError(
      'INVALID_INPUT',
      `${file} cannot be read: ${readProblem(thrown)}.`,
      { file },
      thrown,
    );
  }
}
