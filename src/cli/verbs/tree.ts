import type { StemmaClient } from '../../client/stemma-client.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import type { Target } from '../follow.ts';
import { readSnapshot } from '../follow.ts';
import type { Run } from '../../contract/run.ts';
import { reportEnd, showLive, treeStyle } from '../live-view.ts';
import { adviceLines, runLines, snapshotLines, unseenLines } from '../run-lines.ts';
import { type Options, type Registrar, requiredText } from '../verb.ts';
import { explain, explanationLines } from '../why.ts';

/** `stemma tree ID` and `stemma why ID`. */
export function addTreeVerbs({ program, verb }: Registrar): void {
  program
    .command('tree')
    .description('show the whole tree of an execution, or the trees of a run')
    .argument('<id>', 'an execution or a run; the beginning of an id is enough')
    .option('--results', 'show below each execution what it answered')
    .option('-f, --follow', 'show it live until it is closed; exit code = outcome')
    .action(verb(tree));
  program
    .command('why')
    .description('say what keeps an execution open, since when, by which evidence, and what one can do')
    .argument('<id>', 'an execution or a run; the beginning of an id is enough')
    .action(verb(why));
}

/** What an id names for the verbs that take both. */
function targetOf(id: string): Target {
  return { kind: id.startsWith('run_') ? 'run' : 'root', id };
}

async function tree(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const named = targetOf(requiredText(args[0], 'id'));
  return context.interruptible(async (signal) => {
    const snapshot = await readSnapshot(client, named, undefined, signal);
    const results = options['results'] === true;
    if (options['follow'] === true) {
      const target = named.kind === 'root' ? { ...named, id: snapshot.trees[0]?.root ?? named.id } : named;
      const end = await showLive(context, client, target, { signal, goesOn: true, results });
      return reportEnd(context, target, end);
    }
    if (context.isJson)
      context.document(snapshot.run ? { run: snapshot.run, trees: snapshot.trees } : snapshot.trees[0]);
    else
      context.lines([
        ...snapshotLines(snapshot, { ...treeStyle(context), ids: true, results }),
        ...unseenLines(snapshot),
      ]);
    return exitCodes.ok;
  });
}

async function why(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const named = targetOf(requiredText(args[0], 'id'));
  const run = named.kind === 'run' ? await client.call('getRun', { id: named.id }) : undefined;
  const id = run ? currentMessage(run) : named.id;
  if (run && id === undefined) return whyUnsent(context, run);
  return whyOpen(context, client, id ?? named.id, run);
}

// Between two messages, and before the first, nothing is open that would hold it.
function whyUnsent(context: CliContext, run: Run): number {
  const { now, columns } = treeStyle(context);
  if (context.isJson) context.document({ run });
  else context.lines([...runLines(run, columns, now), ...adviceLines(run, columns)]);
  return exitCodes.ok;
}

async function whyOpen(
  context: CliContext,
  client: StemmaClient,
  id: string,
  run: Run | undefined,
): Promise<number> {
  const [about, view] = await Promise.all([
    client.call('getExecution', { id }),
    client.call('getTree', { id }),
  ]);
  const explanation = explain(about, view);
  const { now, columns } = treeStyle(context);
  if (context.isJson) context.document(run ? { ...explanation, run } : explanation);
  else {
    if (run) context.lines(runLines(run, columns, now));
    context.lines(explanationLines(explanation, now, columns));
    if (run) context.lines(adviceLines(run, columns));
  }
  return exitCodes.ok;
}

// A run is held by the message at which it stands, if that is open.
function currentMessage(run: Run): string | undefined {
  const attempts = run.messages.flatMap((message) => message.attempts);
  const current = attempts.find(({ executionId }) => executionId === run.currentId);
  if (run.waiting?.for === 'retry') return undefined;
  // Of one that has ended, the last one says how.
  return current?.executionId;
}
