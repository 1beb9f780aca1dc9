import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { StemmaError } from '../base/errors.ts';
import type { WorkflowRunBody } from '../contract/workflow.ts';
import { workspaceMode } from '../contract/workspace-mode.ts';
import type { CliContext } from './context.ts';
import { tokensArgument, usdArgument } from './amount-arguments.ts';
import { defined, durationArgument, numberOf, type Options, textOf, wholeNumber } from './verb.ts';
import { inputsOf } from './workflow-inputs.ts';

/** What commander calls the options of `withWorkflowOptions`, and how they are written. */
const names: Readonly<Record<string, string>> = {
  group: '--group',
  input: '--input',
  evaluation: '--no-evaluation',
  cwd: '--cwd',
  workspace: '--workspace',
  timeout: '--timeout',
  retry: '--retry',
  backoff: '--backoff',
  budgetUsd: '--budget-usd',
  budgetTokens: '--budget-tokens',
};

/** The options with which a workflow is run. `of` stands before each text, where the verb runs other things too. */
export function withWorkflowOptions(command: Command, of = ''): Command {
  return command
    .option('--group <name>', `${of}one of its groups of variables (else each of them, side by side)`)
    .option('--input <name=value>', `${of}the value of an input; give it again for the next one`, collected)
    .option('--no-evaluation', `${of}without the evaluation that it declares`)
    .option('--cwd <dir>', `${of}where its steps work`)
    .addOption(
      new Option('--workspace <how>', `${of}what it has alone of that directory`).choices(
        workspaceMode.options,
      ),
    )
    .option('--timeout <duration>', `${of}cancel it and all below after this`, durationArgument)
    .option('--retry <n>', `${of}try it again so often when it fails`, wholeNumber(1, 100))
    .option('--backoff <duration>', `${of}wait so long before that, then twice as long`, durationArgument)
    .option('--budget-usd <usd>', `${of}end it when more is spent at and below it`, usdArgument)
    .option('--budget-tokens <n>', `${of}the same in tokens: 200000, 200k, 1.5M`, tokensArgument);
}

function collected(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** What the options say, as the server is asked. Throws `INVALID_INPUT` for an input that is no name=value. */
export function workflowBody(
  { deps }: Pick<CliContext, 'deps'>,
  options: Options,
): Partial<Omit<WorkflowRunBody, 'retry'>> & { retry?: { max: number; backoff?: number } } {
  const cwd = textOf(options['cwd']);
  const budget = defined({ usd: numberOf(options['budgetUsd']), tokens: numberOf(options['budgetTokens']) });
  const max = numberOf(options['retry']);
  if (max === undefined && options['backoff'] !== undefined)
    throw new StemmaError('INVALID_INPUT', '--backoff needs --retry N: how often it is tried again.', {
      field: 'backoff',
    });
  return defined({
    group: textOf(options['group']),
    inputs: inputsOf(options['input']),
    evaluation: options['evaluation'] === false ? false : undefined,
    cwd: cwd === undefined ? undefined : resolve(deps.cwd, cwd),
    workspace: textOf(options['workspace']) as WorkflowRunBody['workspace'],
    timeout: numberOf(options['timeout']),
    retry: max === undefined ? undefined : { max, ...defined({ backoff: numberOf(options['backoff']) }) },
    budget: Object.keys(budget).length === 0 ? undefined : budget,
  });
}

/** Which of the options were given, as they are written. */
export function givenWorkflowOptions(options: Options): string[] {
  return Object.entries(names).flatMap(([key, name]) => {
    const value = options[key];
    return value === undefined || (key === 'evaluation' && value === true) ? [] : [name];
  });
}

/** Whether a file is meant, and no name. What looks like a file is one, so that a wrong path is told as such. */
export function isFile({ deps }: Pick<CliContext, 'deps'>, named: string): boolean {
  const isYaml = /\.ya?ml$/i.test(named);
  // A directory may be called as a workflow is.
  return isYaml || statSync(resolve(deps.cwd, named), { throwIfNoEntry: false })?.isFile() === true;
}
