import type { StemmaClient } from '../../client/stemma-client.ts';
import type { Run } from '../../contract/run.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { reportEnd, showLive } from '../live-view.ts';
import { plainLine } from '../text.ts';
import { numberOf, type Options, type Registrar, requiredText, wholeNumber } from '../verb.ts';

/** `stemma rerun RUN --from N` and `stemma resume RUN`: a run that stands still goes on. */
export function addStandingRunVerbs({ program, verb }: Registrar): void {
  const follows = 'show it live until it has ended; exit code = outcome';
  program
    .command('rerun')
    .description('send the messages of a run that has ended once more, from one of them on')
    .argument('<run>', 'a run; the beginning of an id is enough')
    .requiredOption('--from <number>', 'the message to begin with; the first is 1', wholeNumber(1, 1_000))
    .option('-f, --follow', follows)
    .action(verb(rerun));
  program
    .command('resume')
    .description('go on with a run: from the message that failed or was not sent, past a back-off or a limit')
    .argument('<run>', 'a run; the beginning of an id is enough')
    .option('-f, --follow', follows)
    .action(verb(resume));
}

async function rerun(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const number = numberOf(options['from']) ?? 1;
  const client = await context.connect();
  const id = requiredText(args[0], 'run');
  return goesOn(context, client, await client.call('rerunRun', { id, body: { from: number - 1 } }), options);
}

async function resume(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const id = requiredText(args[0], 'run');
  return goesOn(context, client, await client.call('resumeRun', { id, body: {} }), options);
}

async function goesOn(
  context: CliContext,
  client: StemmaClient,
  run: Run,
  options: Options,
): Promise<number> {
  const target = { kind: 'run', id: run.id } as const;
  if (options['follow'] !== true) {
    if (context.isJson) context.document(run);
    else context.data(`run ${run.id} goes on${placeWords(run)}`);
    return exitCodes.ok;
  }
  if (context.isJson) context.document({ event: 'started', runId: run.id });
  else context.talk(`run ${run.id} goes on${placeWords(run)}`);
  const end = await context.interruptible((signal) =>
    showLive(context, client, target, { signal, goesOn: true }),
  );
  return reportEnd(context, target, end);
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
