import { resolve } from 'node:path';
import { Option } from 'commander';
import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import { askPatiently } from '../../client/retry.ts';
import { waitUntilClosed } from '../../client/wait.ts';
import type { Execution, TreeView, WaitAnswer } from '../../contract/execution.ts';
import type { QueryAnswer } from '../../contract/requests.ts';
import type { BodyInputOf } from '../../contract/routes.ts';
import type { CliContext } from '../context.ts';
import { formatDuration } from '../../words/durations.ts';
import { exitCodes, exitOfOutcome, Interrupted } from '../exit.ts';
import { sayGoesOn, sayGone } from '../live-view.ts';
import { lookFirst } from '../look-first.ts';
import { plainBlock, plainLine } from '../../words/text.ts';
import { spentWords } from '../../words/usage-words.ts';
import { tokensArgument, usdArgument } from '../amount-arguments.ts';
import { defined, durationArgument, numberOf, type Options, type Registrar, textOf } from '../verb.ts';

/** `stemma send TEXT`: prints the id of the message; with `--wait` the answer, once everything below it is finished. */
export function addSendVerb({ program, verb }: Registrar): void {
  program
    .command('send')
    .description('send a message to a session, new or existing; prints its id')
    .argument('<text>', 'the message; - reads it from standard input')
    .option('--session <id>', 'the session (default: a new one)')
    .option(
      '--agent <name>',
      'the agent profile of a new session (default: the first of stemma.yaml, else demo)',
    )
    .option('--cwd <dir>', 'the working directory of a new session (default: this one)')
    .option('--title <title>', 'what the session is called')
    .addOption(new Option('--steer', 'put it into the running turn').conflicts('reject'))
    .option('--reject', 'fail if the session is busy, instead of queueing')
    .addOption(new Option('--join <rule>', 'whose failure makes it fail').choices(['own', 'all']))
    .option('--timeout <duration>', 'cancel it and all below after this', durationArgument)
    .addOption(
      new Option('--background <rule>', "what becomes of the agent's own background tasks").choices([
        'wait',
        'cancel',
        'detach',
      ]),
    )
    .option('--budget-usd <usd>', 'end the whole tree when more is spent at and below it', usdArgument)
    .option('--budget-tokens <n>', 'the same in tokens: 200000, 200k, 1.5M', tokensArgument)
    .option('--wait', 'wait until it is closed; print the last answer; exit code = outcome')
    .option('--idempotency-key <key>', 'sending again with the same key sends once')
    .action(verb(send));
}

async function send(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const argument = textOf(args[0]) ?? '';
  const message = argument === '-' ? await context.deps.readStdin() : argument;
  if (message.trim() === '') throw new StemmaError('INVALID_INPUT', 'The message is empty.');
  const client = await context.connect();
  if (options['session'] === undefined) await lookFirst(context, client, textOf(options['agent']));
  const idempotencyKey = textOf(options['idempotencyKey']);
  const body = bodyFor(context, client, message, options);
  const answer = await client.call('query', {
    body,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });
  if (options['wait'] === true) return waitForAnswer(context, client, answer);
  if (context.isJson) context.document(answer);
  else {
    context.data(answer.queryId);
    context.talk(`${answer.disposition} ${inSession(answer)}`);
    context.talk(`  watch it:  stemma tree ${answer.queryId} --follow`);
  }
  return exitCodes.ok;
}

function bodyFor(
  context: CliContext,
  client: StemmaClient,
  message: string,
  options: Options,
): BodyInputOf<'query'> {
  const sessionId = textOf(options['session']);
  const background = textOf(options['background']);
  return {
    message,
    ...defined({
      sessionId,
      agent: textOf(options['agent']),
      cwd: directoryFor(context, client, sessionId, textOf(options['cwd'])),
      title: textOf(options['title']),
      whenBusy: options['steer'] ? ('steer' as const) : options['reject'] ? ('reject' as const) : undefined,
      join: textOf(options['join']) as 'own' | 'all' | undefined,
      timeout: numberOf(options['timeout']),
      background: background as 'wait' | 'cancel' | 'detach' | undefined,
      budget: budgetOf(options),
    }),
  };
}

function budgetOf(options: Options): BodyInputOf<'query'>['budget'] {
  const budget = defined({ usd: numberOf(options['budgetUsd']), tokens: numberOf(options['budgetTokens']) });
  return Object.keys(budget).length === 0 ? undefined : budget;
}

// The directory of this shell means something to a server on this machine only, and to a new session only.
function directoryFor(
  context: CliContext,
  client: StemmaClient,
  sessionId: string | undefined,
  named: string | undefined,
): string | undefined {
  if (named !== undefined) return resolve(context.deps.cwd, named);
  const host = new URL(client.connection.url).hostname;
  const isHere = host === 'localhost' || host === '[::1]' || host.startsWith('127.');
  return sessionId === undefined && isHere ? context.deps.cwd : undefined;
}

function inSession({ sessionId, agent }: QueryAnswer): string {
  return `in session ${sessionId}${agent === undefined ? '' : ` (agent ${plainLine(agent)})`}`;
}

async function waitForAnswer(
  context: CliContext,
  client: StemmaClient,
  answer: QueryAnswer,
): Promise<number> {
  const { queryId } = answer;
  context.talk(`${queryId}: ${answer.disposition} ${inSession(answer)}`);
  try {
    return await context.interruptible(async (signal) => {
      const end = await waitUntilClosed(client, queryId, { signal, onGone: () => sayGone(context) });
      const read = () => client.call('getTree', { id: queryId, signal });
      const tree = await askPatiently(client.clock, read, signal);
      const message = tree.executions.find(({ id }) => id === queryId);
      if (context.isJson) {
        const { result, error } = message ?? {};
        const last = { result, error, answer: lastAnswer(tree, message) };
        context.document({ ...answer, ...defined({ ...end, holding: undefined, ...last }) });
      } else printEnd(context, tree, message, end);
      return exitOfOutcome(end);
    });
  } catch (thrown) {
    if (thrown instanceof Interrupted) sayGoesOn(context, queryId);
    throw thrown;
  }
}

function printEnd(
  context: CliContext,
  tree: TreeView,
  message: Execution | undefined,
  end: WaitAnswer,
): void {
  const text = lastAnswer(tree, message);
  if (text !== undefined) context.data(plainBlock(text));
  if (end.outcome === 'succeeded') return;
  const { error, createdAt, closedAt } = message ?? {};
  const code = end.outcomeCode ?? error?.code ?? end.outcome ?? 'closed';
  const isTimed = createdAt !== undefined && closedAt !== undefined;
  const after = isTimed ? ` after ${formatDuration(Date.parse(closedAt) - Date.parse(createdAt))}` : '';
  const beyond = code === 'BUDGET' ? `: ${spentWords(message?.spent, message?.budget)}` : '';
  const why = error ? `: ${plainBlock(error.message)}` : beyond;
  context.talk(`${plainLine(code)}${after}${why}`);
}

/** What the agent said last: where results came back, that is what it made of them, not what it said before. */
function lastAnswer(tree: TreeView, message: Execution | undefined): string | undefined {
  const spoken = tree.executions.filter(
    ({ id, kind, runsIn }) =>
      id === message?.id || (kind === 'continuation' && runsIn !== undefined && runsIn === message?.runsIn),
  );
  return spoken
    .filter(({ result }) => result !== undefined && result.trim() !== '')
    .toSorted((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? -1 : 1))
    .at(-1)?.result;
}
