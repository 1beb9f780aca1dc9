import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import type { Run } from '../../contract/run.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { readSnapshot, type Snapshot } from '../follow.ts';
import { reportEnd, showLive } from '../live-view.ts';
import { sayStepsOf, stepsAgain } from '../steps-again.ts';
import { plainLine } from '../../words/text.ts';
import { type Options, type Registrar, requiredText } from '../verb.ts';

/** `stemma rerun RUN --from PLACE` and `stemma resume RUN`: a run that stands still goes on. */
export function addStandingRunVerbs({ program, verb }: Registrar): void {
  const from = 'the number of a message, the first is 1; of a run of a workflow, the name of a step';
  const only = 'of a workflow: that step alone';
  const follows = 'show it live until it has ended; exit code = outcome';
  program
    .command('rerun')
    .description('do a run that has ended once more, from one of its messages or steps on')
    .argument('<run>', 'a run; the beginning of an id is enough')
    .requiredOption('--from <place>', from)
    .option('--only', only)
    .option('-f, --follow', follows)
    .action(verb(rerun));
  program
    .command('resume')
    .description(
      'go on with a run: from what failed or was not begun, past a back-off or a limit; steps that succeeded are kept',
    )
    .argument('<run>', 'a run; the beginning of an id is enough')
    .option('--from <place>', `${from}; then it is as rerun`)
    .option('--only', only)
    .option('-f, --follow', follows)
    .action(verb(resume));
}

async function rerun(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const from = placeOf(requiredText(options['from'], 'place'));
  const only = options['only'] === true ? { only: true } : {};
  const client = await context.connect();
  const id = requiredText(args[0], 'run');
  const before = await standingRun(client, id, options);
  const run = await client.call('rerunRun', { id, body: { from, ...only } });
  const words = stepsAgain(before.run, { from, only: options['only'] === true }) ?? placeWords(run);
  return goesOn(context, client, run, words, before.known);
}

/** Messages are counted from 1 by people; what is no number is the name of a step. */
function placeOf(text: string): number | string {
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) - 1 : text;
}

async function resume(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  if (options['from'] !== undefined) return rerun(context, args, options);
  if (options['only'] === true)
    throw new StemmaError('INVALID_INPUT', '--only needs --from STEP: the step that is done alone.');
  const client = await context.connect();
  const id = requiredText(args[0], 'run');
  const before = await standingRun(client, id, options);
  const run = await client.call('resumeRun', { id, body: {} });
  const words = (before.run.state === 'ended' ? stepsAgain(before.run, {}) : undefined) ?? placeWords(run);
  return goesOn(context, client, run, words, before.known);
}

/** The run as it stands; with `--follow` also its trees, of which only what is new shall be told. */
async function standingRun(
  client: StemmaClient,
  id: string,
  options: Options,
): Promise<{ readonly run: Run; readonly known?: Snapshot }> {
  const run = await client.call('getRun', { id });
  if (options['follow'] !== true) return { run };
  const { signal } = new AbortController();
  return { run, known: await readSnapshot(client, { kind: 'run', id: run.id }, undefined, signal) };
}

async function goesOn(
  context: CliContext,
  client: StemmaClient,
  run: Run,
  words: string,
  known: Snapshot | undefined,
): Promise<number> {
  const target = { kind: 'run', id: run.id } as const;
  if (!known) {
    if (context.isJson) context.document(run);
    else {
      context.data(`run ${run.id} goes on${words}`);
      context.talk(`  watch it:  stemma tree ${run.id} --follow`);
    }
    return exitCodes.ok;
  }
  if (context.isJson) context.document({ event: 'started', runId: run.id });
  else context.talk(`run ${run.id} goes on${words}`);
  const end = await context.interruptible((signal) =>
    showLive(context, client, target, { signal, goesOn: true, known }),
  );
  const exitCode = reportEnd(context, target, end);
  sayStepsOf(context, run.id, end);
  return exitCode;
}

// By the time of the answer the message may have been sent already.
function placeWords({ messages, next = 0, currentId }: Run): string {
  const index = currentId === undefined ? next : next - 1;
  const message = messages[index];
  return message ? ` from message ${index + 1} of ${messages.length}: ${firstLine(message.text)}` : '';
}

function firstLine(text: string): string {
  const line = plainLine(text.trim().split('\n', 1)[0] ?? '');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
