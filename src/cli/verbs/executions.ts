import { Option } from 'commander';
import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import { waitUntilClosed } from '../../client/wait.ts';
import type { Execution, Holding, WaitAnswer } from '../../contract/execution.ts';
import { Awaited, heldLines } from '../awaited.ts';
import type { CliContext } from '../context.ts';
import { exitCodes, exitOfOutcome, exitOfStillOpen, Interrupted } from '../exit.ts';
import { sayGoesOn, sayGone } from '../live-view.ts';
import { plainLine } from '../../words/text.ts';
import { shortId } from '../../words/tree-words.ts';
import {
  defined,
  durationArgument,
  numberOf,
  type Options,
  type Registrar,
  requiredText,
  textOf,
} from '../verb.ts';
import { waitForRun } from '../wait-for-run.ts';

/** What can be said of a usage limit or an expired sign-in. */
const limitChoices = ['resume', 'giveUp'];

/** `stemma wait`, `cancel`, `answer` and `detach`. */
export function addExecutionVerbs({ program, verb }: Registrar): void {
  program
    .command('wait')
    .description('wait until an execution is closed or a run has ended; exit code = outcome')
    .argument('<id>', 'an execution or a run; the beginning of an id is enough')
    .option(
      '--timeout <duration>',
      'give up waiting after this: exit 124 (7, 8 if it waits for something)',
      durationArgument,
    )
    .action(verb(wait));
  program
    .command('cancel')
    .description('cancel an execution and all below it, or a run; returns when everything has ended')
    .argument('<id>', 'an execution or a run; the beginning of an id is enough')
    .addOption(new Option('--scope <scope>', 'how much').choices(['execution', 'tree']).default('tree'))
    .option('--reason <text>', 'why, for the record')
    .action(verb(cancel));
  program
    .command('answer')
    .description(
      'answer a question; "resume" or "giveUp" for a usage limit or a sign-in; without an answer, show it',
    )
    .argument('<id>', 'what asks, something above it, or a run; the beginning of an id is enough')
    .argument('[answer]', 'one of the choices, or a text where none are offered')
    .action(verb(answer));
  program
    .command('detach')
    .description('let an execution live on without holding its root')
    .argument('<id>', 'an execution; the beginning of an id is enough')
    .option('--reason <text>', 'why, for the record')
    .action(verb(detach));
}

async function wait(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const id = requiredText(args[0], 'id');
  const timeoutMs = numberOf(options['timeout']);
  const client = await context.connect();
  try {
    return await context.interruptible(async (signal) => {
      const awaited = new Awaited(context);
      const onStillOpen = ({ holding }: WaitAnswer): void => awaited.tell(holding);
      const limits = { timeoutMs, signal, onGone: () => sayGone(context), onStillOpen };
      const wait = id.startsWith('run_') ? waitForRun : waitUntilClosed;
      const { closed, outcome, outcomeCode, holding } = await wait(client, id, limits);
      // The id as the server knows it; the caller may have given its beginning.
      if (context.isJson) context.document({ id, closed, ...defined({ outcome, outcomeCode, holding }) });
      else if (closed)
        context.data(
          `${outcome ?? 'closed'}${outcomeCode === undefined ? '' : ` (${plainLine(outcomeCode)})`}`,
        );
      else sayStillOpen(context, id, holding ?? []);
      return closed ? exitOfOutcome({ outcome, outcomeCode }) : exitOfStillOpen(holding);
    });
  } catch (thrown) {
    if (thrown instanceof Interrupted) sayGoesOn(context, id);
    throw thrown;
  }
}

function sayStillOpen(context: CliContext, id: string, holding: readonly Holding[]): void {
  context.talk(`${id} is still open; it waits for:`);
  for (const line of holding.flatMap((held) => heldLines(context, held))) context.talk(line);
}

async function cancel(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const id = requiredText(args[0], 'id');
  const client = await context.connect();
  const reason = defined({ reason: textOf(options['reason']) });
  if (id.startsWith('run_')) return cancelRun(context, client, id, reason);
  const scope = options['scope'] === 'execution' ? 'execution' : 'tree';
  const before = await client.call('getExecution', { id });
  const execution = before.closed
    ? before
    : await client.call('cancelExecution', { id, body: { scope, ...reason } });
  const outcome = execution.outcome ?? execution.state;
  if (context.isJson) context.document(execution);
  else if (before.closed) context.data(`${execution.id}: ${outcome} already; nothing was cancelled`);
  else
    context.data(`${execution.id}: ${execution.closed ? `${outcome}, closed` : 'asked to end, still open'}`);
  if (!execution.closed && !context.isJson) context.talk(`stemma why ${execution.id} says what is left.`);
  return exitCodes.ok;
}

// The server answers when the tree of its message is joined; that the run has ended is known a little later.
async function cancelRun(
  context: CliContext,
  client: StemmaClient,
  id: string,
  body: { reason?: string },
): Promise<number> {
  const before = await client.call('getRun', { id });
  const isOver = before.state === 'ended';
  const asked = isOver ? before : await client.call('cancelRun', { id, body });
  if (asked.state !== 'ended') await context.interruptible((signal) => waitForRun(client, id, { signal }));
  const run = asked.state === 'ended' ? asked : await client.call('getRun', { id });
  const outcome = run.outcome ?? run.state;
  if (context.isJson) context.document(run);
  else context.data(`${run.id}: ${isOver ? `${outcome} already; nothing was cancelled` : outcome}`);
  return exitCodes.ok;
}

async function answer(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const id = await askingId(client, requiredText(args[0], 'id'));
  const given = textOf(args[1]);
  if (given === undefined) return showQuestions(context, client, id);
  const execution = await client.call('answerExecution', { id, body: { choice: given } });
  if (context.isJson) context.document(execution);
  else {
    const name = plainLine(execution.name);
    context.data(`${execution.id}${name === '' ? '' : ` ${name}`}: answered ${plainLine(given)}`);
  }
  return exitCodes.ok;
}

/** Of a run, the message or the workflow at which it stands. */
async function askingId(client: StemmaClient, id: string): Promise<string> {
  if (!id.startsWith('run_')) return id;
  const { currentId, id: whole } = await client.call('getRun', { id });
  if (currentId !== undefined) return currentId;
  throw new StemmaError('ILLEGAL_STATE', `Run ${whole} has begun nothing yet that could ask.`, { id: whole });
}

async function showQuestions(context: CliContext, client: StemmaClient, id: string): Promise<number> {
  const tree = await client.call('getTree', { id });
  const asking = tree.executions.filter(({ waiting }) => waiting !== undefined && waiting.for !== 'lane');
  const held = tree.holding.filter(({ why, noticeId }) => why === 'waiting' && noticeId !== undefined);
  if (context.isJson) context.document({ items: asking, holding: held });
  else showAll(context, asking, held);
  if (asking.length + held.length === 0 && !context.isJson)
    context.talk(`Nothing of ${id} waits for an answer.`);
  return asking.some(({ waiting }) => waiting?.for === 'input') ? exitCodes.waitsForInput : exitCodes.ok;
}

function showAll(context: CliContext, asking: readonly Execution[], held: readonly Holding[]): void {
  for (const { id, name, waiting } of asking) {
    const choices = waiting?.for === 'input' ? waiting.choices : limitChoices;
    context.data(`${id} ${plainLine(name)} waits for ${waiting?.for}: ${plainLine(waiting?.text ?? '')}`);
    if (choices?.length) context.data(`  answers: ${choices.map(plainLine).join(', ')}`);
    else context.data(`  answer: any text: stemma answer ${shortId(id)} "…"`);
  }
  for (const { executionId, name = '', evidence } of held)
    context.data(
      `${executionId} ${plainLine(name)}: its result ${plainLine(evidence)}\n  answers: ${limitChoices.join(', ')}`,
    );
}

async function detach(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const body = defined({ reason: textOf(options['reason']) });
  const execution = await client.call('detachExecution', { id: requiredText(args[0], 'id'), body });
  if (context.isJson) context.document(execution);
  else context.data(`${execution.id}: detached, ${execution.state}`);
  return exitCodes.ok;
}
