import { resolve } from 'node:path';
import { withPlaces } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { reportEnd, showLive } from '../live-view.ts';
import { lookFirst } from '../look-first.ts';
import { loadRunFile } from '../run-file.ts';
import { type Registrar, requiredText } from '../verb.ts';

/** `stemma run FILE`: sends the messages of a file in order and shows their trees until the run has ended. */
export function addRunVerb({ program, verb }: Registrar): void {
  program
    .command('run')
    .description('run the messages of a YAML file in order, in the foreground; exit code = outcome')
    .argument('<file>', 'a run file; "stemma init" writes an example')
    .action(verb(run));
}

async function run(context: CliContext, args: readonly unknown[]): Promise<number> {
  const { cwd } = context.deps;
  const file = requiredText(args[0], 'file');
  const body = await loadRunFile(file, cwd);
  const client = await context.connect();
  // A profile that comes with the file goes before one of the same name.
  if (body.agents?.[body.agent] === undefined) await lookFirst(context, client, body.agent);
  const { runId } = await withPlaces(resolve(cwd, file), () => client.call('createRun', { body }), file);
  if (context.isJson) context.document({ event: 'started', runId });
  else context.talk(`run ${runId}`);
  const target = { kind: 'run', id: runId } as const;
  const end = await context.interruptible((signal) =>
    showLive(context, client, target, { signal, goesOn: true }),
  );
  const exitCode = reportEnd(context, target, end);
  if (!context.isJson) context.talk(`The answers: stemma tree ${runId} --results`);
  return exitCode;
}
