import { basename, extname, resolve } from 'node:path';
import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import type { RunFile } from '../../contract/run-file.ts';
import type { BodyInputOf } from '../../contract/routes.ts';
import { withPlaces } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { reportEnd, showLive } from '../live-view.ts';
import { lookFirst } from '../look-first.ts';
import { loadRunFile } from '../run-file.ts';
import { isWorkflowText, readRunnable } from '../runnable-file.ts';
import { sayStepsOf } from '../steps-again.ts';
import { plainLine } from '../../words/text.ts';
import { triggerAndWait } from '../triggered-run.ts';
import { type Options, type Registrar, requiredText } from '../verb.ts';
import { givenWorkflowOptions, isFile, withWorkflowOptions, workflowBody } from '../workflow-options.ts';

/** `stemma run FILE | SCHEDULE | WORKFLOW`: in the foreground, shown live, until the run has ended. */
export function addRunVerb({ program, verb }: Registrar): void {
  const command = program
    .command('run')
    .description(
      'run a YAML file of messages or of steps, a schedule or a workflow, in the foreground; exit code = outcome',
    )
    .argument(
      '<file>',
      'a file ("stemma init" writes an example), or the name of a schedule or of a workflow',
    );
  withWorkflowOptions(command, 'of a workflow: ').action(verb(run));
}

type Begin = (client: StemmaClient, signal: AbortSignal) => Promise<string>;

async function run(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const named = requiredText(args[0], 'file');
  // A mistake in a file is told also where no server runs.
  const begin = isFile(context, named)
    ? await runOfFile(context, named, options)
    : runOfName(context, named, options);
  const client = await context.connect();
  const end = await context.interruptible(async (signal) => {
    const target = { kind: 'run', id: await begin(client, signal) } as const;
    return { target, ...(await showLive(context, client, target, { signal, goesOn: true })) };
  });
  const exitCode = reportEnd(context, end.target, end);
  if (!context.isJson) context.talk(`The answers: stemma tree ${end.target.id} --results`);
  sayStepsOf(context, end.target.id, end);
  return exitCode;
}

async function runOfFile(context: CliContext, file: string, options: Options): Promise<Begin> {
  const path = resolve(context.deps.cwd, file);
  const text = await readRunnable(path, file);
  if (!isWorkflowText(text)) {
    refuseWorkflowOptions(options, `${plainLine(file)} has messages, and no steps`);
    const body = await loadRunFile(file, context.deps.cwd);
    return (client) => sendMessages(context, client, file, body);
  }
  const body = { cwd: context.deps.cwd, ...workflowBody(context, options), file: { path, text } };
  return (client) =>
    withPlaces(path, () => sendWorkflow(context, client, basename(path, extname(path)), body), file);
}

async function sendMessages(
  context: CliContext,
  client: StemmaClient,
  file: string,
  body: RunFile,
): Promise<string> {
  // A profile that comes with the file goes before one of the same name.
  if (body.agents?.[body.agent] === undefined) await lookFirst(context, client, body.agent);
  const path = resolve(context.deps.cwd, file);
  const { runId } = await withPlaces(path, () => client.call('createRun', { body }), file);
  sayBegun(context, runId);
  return runId;
}

function runOfName(context: CliContext, name: string, options: Options): Begin {
  return async (client, signal) => {
    const schedule = await client.call('getSchedule', { id: name, signal }).catch(noneFound);
    if (!schedule)
      return sendWorkflow(context, client, name, workflowBody(context, options)).catch(neither(name));
    refuseWorkflowOptions(options, `${plainLine(name)} is a schedule, which says these itself`);
    const { agent } = schedule.definition;
    if (agent !== undefined && schedule.definition.workflow === undefined)
      await lookFirst(context, client, agent);
    return triggerAndWait(context, client, name, signal);
  };
}

async function sendWorkflow(
  context: CliContext,
  client: StemmaClient,
  id: string,
  body: BodyInputOf<'runWorkflow'>,
): Promise<string> {
  const { runId } = await client.call('runWorkflow', { id, body });
  sayBegun(context, runId);
  return runId;
}

function sayBegun(context: CliContext, runId: string): void {
  if (context.isJson) context.document({ event: 'started', runId });
  else context.talk(`run ${runId}`);
}

function refuseWorkflowOptions(options: Options, why: string): void {
  const given = givenWorkflowOptions(options);
  if (given.length === 0) return;
  const message = `${given.join(', ')} ${given.length === 1 ? 'is' : 'are'} for workflows: ${why}.`;
  throw new StemmaError('INVALID_INPUT', message, { given });
}

function noneFound(thrown: unknown): undefined {
  if (thrown instanceof StemmaError && thrown.code === 'NOT_FOUND') return undefined;
  throw thrown;
}

/** What is neither of the two is told as such: the server was asked for a workflow only. */
function neither(name: string): (thrown: unknown) => never {
  return (thrown) => {
    if (!(thrown instanceof StemmaError) || thrown.code !== 'NOT_FOUND') throw thrown;
    const message = `There is no schedule "${plainLine(name)}" ("stemma schedule ls"), and: ${thrown.message}`;
    throw new StemmaError('NOT_FOUND', message, { id: name });
  };
}
