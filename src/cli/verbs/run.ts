import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StemmaClient } from '../../client/stemma-client.ts';
import type { RunFile } from '../../contract/run-file.ts';
import { withPlaces } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { reportEnd, showLive } from '../live-view.ts';
import { lookFirst } from '../look-first.ts';
import { loadRunFile } from '../run-file.ts';
import { triggerAndWait } from '../triggered-run.ts';
import { type Registrar, requiredText } from '../verb.ts';

/** `stemma run FILE | SCHEDULE`: in the foreground, shown live, until the run has ended. */
export function addRunVerb({ program, verb }: Registrar): void {
  program
    .command('run')
    .description('run a YAML file of messages, or a schedule, in the foreground; exit code = outcome')
    .argument('<file>', 'a run file ("stemma init" writes an example), or the name of a schedule')
    .action(verb(run));
}

async function run(context: CliContext, args: readonly unknown[]): Promise<number> {
  const named = requiredText(args[0], 'file');
  // A mistake in a file is told also where no server runs.
  const body = isFile(context, named) ? await loadRunFile(named, context.deps.cwd) : undefined;
  const client = await context.connect();
  const end = await context.interruptible(async (signal) => {
    const id = body
      ? await runOfFile(context, client, named, body)
      : await runOfSchedule(context, client, named, signal);
    const target = { kind: 'run', id } as const;
    return { target, ...(await showLive(context, client, target, { signal, goesOn: true })) };
  });
  const exitCode = reportEnd(context, end.target, end);
  if (!context.isJson) context.talk(`The answers: stemma tree ${end.target.id} --results`);
  return exitCode;
}

// What looks like a file is one, so that a wrong path is told as such.
function isFile({ deps }: CliContext, named: string): boolean {
  return /\.ya?ml$/i.test(named) || existsSync(resolve(deps.cwd, named));
}

async function runOfFile(
  context: CliContext,
  client: StemmaClient,
  file: string,
  body: RunFile,
): Promise<string> {
  // A profile that comes with the file goes before one of the same name.
  if (body.agents?.[body.agent] === undefined) await lookFirst(context, client, body.agent);
  const { runId } = await withPlaces(
    resolve(context.deps.cwd, file),
    () => client.call('createRun', { body }),
    file,
  );
  if (context.isJson) context.document({ event: 'started', runId });
  else context.talk(`run ${runId}`);
  return runId;
}

async function runOfSchedule(
  context: CliContext,
  client: StemmaClient,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const { definition } = await client.call('getSchedule', { id: name, signal });
  await lookFirst(context, client, definition.agent);
  return triggerAndWait(context, client, name, signal);
}
