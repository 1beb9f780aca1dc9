import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import type { Target } from '../follow.ts';
import { readSnapshot } from '../follow.ts';
import { reportEnd, showLive } from '../live-view.ts';
import { snapshotLines } from '../run-lines.ts';
import { type Options, type Registrar, requiredText } from '../verb.ts';
import { explain, explanationLines } from '../why.ts';

/** `stemma tree ID` and `stemma why ID`. */
export function addTreeVerbs({ program, verb }: Registrar): void {
  program
    .command('tree')
    .description('show the whole tree of an execution, or the trees of a run')
    .argument('<id>', 'an execution or a run; the beginning of an id is enough')
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
  const { clock } = context.deps;
  const named = targetOf(requiredText(args[0]));
  return context.interruptible(async (signal) => {
    const snapshot = await readSnapshot(client, named, undefined, signal);
    if (options['follow'] === true) {
      const target = named.kind === 'root' ? { ...named, id: snapshot.trees[0]?.root ?? named.id } : named;
      const began = snapshot.trees[0]?.executions.find(({ id }) => id === target.id)?.createdAt;
      const end = await showLive(context, client, target, { signal, goesOn: true });
      return reportEnd(
        context,
        target,
        end,
        clock.now() - (began === undefined ? clock.now() : Date.parse(began)),
      );
    }
    if (context.isJson)
      context.document(snapshot.run ? { run: snapshot.run, trees: snapshot.trees } : snapshot.trees[0]);
    else context.lines(snapshotLines(snapshot, { now: clock.now(), signs: context.signs, ids: true }));
    return exitCodes.ok;
  });
}

async function why(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const id = await executionFor(client, requiredText(args[0]));
  const [about, view] = await Promise.all([
    client.call('getExecution', { id }),
    client.call('getTree', { id }),
  ]);
  const explanation = explain(about, view);
  if (context.isJson) context.document(explanation);
  else context.lines(explanationLines(explanation, context.deps.clock.now()));
  return exitCodes.ok;
}

// A run is held by the message at which it stands: the last one that was sent.
async function executionFor(client: StemmaClient, id: string): Promise<string> {
  if (targetOf(id).kind === 'root') return id;
  const run = await client.call('getRun', { id });
  const last = run.messages.flatMap((message) => message.attempts).at(-1);
  if (last) return last.executionId;
  throw new StemmaError(
    'ILLEGAL_STATE',
    `The run ${run.id} is ${run.state} and has not sent a message yet.`,
    {
      state: run.state,
    },
  );
}
