import type { Command } from 'commander';
import { findConfigFile } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { plainBlock } from '../../words/text.ts';
import { type Options, type Registrar, textOf } from '../verb.ts';
import { describeProblems } from '../yaml-file.ts';

/** `stemma workflow check`: everything that is wrong with workflow files, without a server. */
export function addWorkflowCheck(group: Command, { verb }: Pick<Registrar, 'verb'>): void {
  group
    .command('check')
    .description('look for mistakes in workflow files; needs no server, and exits with 5 when there are some')
    .argument('[workflow...]', 'names, or files that end in .yaml; else all of them')
    .option('--config <file>', 'the configuration that they belong to (else ./stemma.yaml)')
    .action(verb(check));
}

async function check(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const { cwd, checkWorkflows } = context.deps;
  const configFile = findConfigFile(cwd, textOf(options['config']));
  const wanted = Array.isArray(args[0]) ? args[0].map(String) : [];
  const items = await checkWorkflows({ cwd, wanted, ...(configFile === undefined ? {} : { configFile }) });
  const hasMistakes = items.some(({ problems }) => problems.length > 0);
  if (context.isJson) context.document({ items });
  else {
    for (const { name, steps, problems } of items) {
      const [first, ...rest] = problems;
      if (first) context.data(`${plainBlock(describeProblems([first, ...rest]))}\n`);
      else context.data(`${name}: ${steps} step${steps === 1 ? '' : 's'}, no mistakes`);
    }
    if (items.length === 0)
      context.talk('There are no workflows here: they are files in workflows/ beside stemma.yaml.');
  }
  return hasMistakes ? exitCodes.configuration : exitCodes.ok;
}
