import { basename, extname, resolve } from 'node:path';
import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import type { BodyInputOf } from '../../contract/routes.ts';
import type { Run } from '../../contract/run.ts';
import type { Workflow } from '../../contract/workflow.ts';
import { withPlaces } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { formatDuration } from '../../words/durations.ts';
import { exitCodes } from '../exit.ts';
import { reportEnd, showLive } from '../live-view.ts';
import { isWorkflowText, readRunnable } from '../runnable-file.ts';
import { doneWords, runCell } from '../schedule-words.ts';
import { sayStepsOf } from '../steps-again.ts';
import { type Cell, printPage } from '../table.ts';
import { plainLine } from '../../words/text.ts';
import {
  defined,
  numberOf,
  type Options,
  type Registrar,
  requiredText,
  textOf,
  cursorOption,
  limitOption,
} from '../verb.ts';
import { isFile, withWorkflowOptions, workflowBody } from '../workflow-options.ts';
import { addWorkflowCheck } from './workflow-check.ts';
import { addWorkflowShow } from './workflow-show.ts';

/** `stemma workflow ls | check | run | runs | show`: the last one has a file of its own. */
export function addWorkflowVerbs({ program, verb }: Registrar): void {
  const group = program
    .command('workflow')
    .description('steps that depend on each other: what there is, running it, and what became of it');
  group
    .command('ls')
    .description('list the workflows of the server, with their steps, groups and inputs')
    .option('--project <name>', 'only those of this project')
    .addOption(limitOption())
    .addOption(cursorOption())
    .action(verb(list));
  addWorkflowCheck(group, { verb });
  const running = group
    .command('run')
    .description('begin a run of a workflow, as its file says it now')
    .argument('<workflow>', 'its name, or project/name; or a file, wherever it lies');
  withWorkflowOptions(running)
    .option('-w, --wait', 'show it live until it has ended; exit code = outcome')
    .action(verb(run));
  group
    .command('runs')
    .description('the runs of a workflow, newest first')
    .argument('<name>', 'the workflow: its name, or project/name')
    .addOption(limitOption())
    .addOption(cursorOption())
    .action(verb(runs));
  addWorkflowShow(group, { verb });
}

async function list(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const page = await client.call('listWorkflows', {
    query: defined({
      project: textOf(options['project']),
      limit: numberOf(options['limit']),
      cursor: textOf(options['cursor']),
    }),
  });
  const heading = ['NAME', 'STEPS', 'GROUPS', 'INPUTS', 'WHAT IT DOES'];
  const empty = 'There is no workflow. Write one into workflows/NAME.yaml, beside stemma.yaml.';
  return printPage(context, page, heading, page.items.map(workflowRow), empty);
}

function workflowRow(item: Workflow): Cell[] {
  const { project, name, description = '', steps, groups, inputs, problems = [] } = item;
  const words = Object.entries(inputs).map(([input, { required }]) => (required ? input : `[${input}]`));
  const first = problems[0];
  const what = first === undefined ? description : `cannot be run: ${first}`;
  return [
    plainLine(`${project}/${name}`),
    String(steps.length),
    plainLine(groups.join(', ')),
    plainLine(words.join(' ')),
    plainLine(what),
  ];
}

async function run(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const named = requiredText(args[0], 'workflow');
  const begin: Beginning = isFile(context, named)
    ? await beginFile(context, named, options)
    : { id: named, body: workflowBody(context, options) };
  const client = await context.connect();
  const call = (): Promise<{ readonly runId: string }> => client.call('runWorkflow', begin);
  const { runId } = await (begin.path === undefined ? call() : withPlaces(begin.path, call, named));
  if (options['wait'] === true) return watchRun(context, client, runId);
  if (context.isJson) context.document({ runId });
  else context.data(`run ${runId}`);
  return exitCodes.ok;
}

interface Beginning {
  readonly id: string;
  readonly body: BodyInputOf<'runWorkflow'>;
  /** Of the file, where there is one: mistakes are told by their place in it. */
  readonly path?: string;
}

async function beginFile(context: CliContext, file: string, options: Options): Promise<Beginning> {
  const path = resolve(context.deps.cwd, file);
  const text = await readRunnable(path, file);
  if (!isWorkflowText(text)) {
    const message = `${plainLine(file)} has messages, and no steps: stemma run ${plainLine(file)}`;
    throw new StemmaError('INVALID_INPUT', message, { file });
  }
  const body = { cwd: context.deps.cwd, ...workflowBody(context, options), file: { path, text } };
  return { id: basename(path, extname(path)), body, path };
}

/** Shows a run that was begun until it has ended; answers the exit code of its outcome. */
export async function watchRun(context: CliContext, client: StemmaClient, runId: string): Promise<number> {
  const target = { kind: 'run', id: runId } as const;
  if (context.isJson) context.document({ event: 'started', runId });
  else context.talk(`run ${runId}`);
  const end = await context.interruptible((signal) =>
    showLive(context, client, target, { signal, goesOn: true }),
  );
  const exitCode = reportEnd(context, target, end);
  sayStepsOf(context, runId, end);
  return exitCode;
}

async function runs(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const id = requiredText(args[0], 'name');
  const query = defined({ limit: numberOf(options['limit']), cursor: textOf(options['cursor']) });
  const page = await client.call('listWorkflowRuns', { id, query });
  const now = context.deps.clock.now();
  const rows = page.items.map((item) => runRow(item, now));
  const heading = ['RUN', 'BEGAN', 'GROUP', 'STATE', 'DONE', 'TOOK'];
  return printPage(context, page, heading, rows, 'It has not run yet.');
}

function runRow(item: Run, now: number): Cell[] {
  const { id, createdAt, endedAt, workflow } = item;
  const began = createdAt === undefined ? undefined : Date.parse(createdAt);
  const ago = began === undefined ? '' : `${formatDuration(now - began)} ago`;
  // A run that went on again has stood still in between: its latest attempt is meant, as where it is shown whole.
  const since = workflow?.startedAt ?? createdAt;
  const took =
    since === undefined || endedAt === undefined
      ? ''
      : formatDuration(Date.parse(endedAt) - Date.parse(since));
  return [id, ago, plainLine(workflow?.group ?? ''), runCell(item), doneWords(item), took];
}
