import { resolve } from 'node:path';
import { Option } from 'commander';
import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import { askPatiently } from '../../client/retry.ts';
import { waitUntilClosed } from '../../client/wait.ts';
import type { QueryAnswer } from '../../contract/requests.ts';
import type { BodyInputOf } from '../../contract/routes.ts';
import type { CliContext } from '../context.ts';
import { exitCodes, exitOfOutcome, Interrupted } from '../exit.ts';
import { sayGoesOn } from '../live-view.ts';
import { plainBlock } from '../text.ts';
import {
  defined,
  durationArgument,
  numberOf,
  type Options,
  type Registrar,
  requiredText,
  textOf,
} from '../verb.ts';

/** `stemma send TEXT`: prints the id of the message; with `--wait` the answer, once everything below it is finished. */
export function addSendVerb({ program, verb }: Registrar): void {
  program
    .command('send')
    .description('send a message to a session, new or existing; prints its id')
    .argument('<text>', 'the message; - reads it from standard input')
    .option('--session <id>', 'the session (default: a new one)')
    .option('--agent <name>', 'the agent profile of a new session')
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
    .option('--wait', 'wait until it is closed; print the answer; exit code = outcome')
    .option('--idempotency-key <key>', 'sending again with the same key sends once')
    .action(verb(send));
}

async function send(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const argument = requiredText(args[0]);
  const message = argument === '-' ? await context.deps.readStdin() : argument;
  if (message.trim() === '') throw new StemmaError('INVALID_INPUT', 'The message is empty.');
  const client = await context.connect();
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
    context.talk(
      `${answer.disposition} in session ${answer.sessionId}; watch it: stemma tree ${answer.queryId} --follow`,
    );
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
    }),
  };
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

async function waitForAnswer(
  context: CliContext,
  client: StemmaClient,
  answer: QueryAnswer,
): Promise<number> {
  const { queryId } = answer;
  context.talk(`${queryId}: ${answer.disposition} in session ${answer.sessionId}`);
  try {
    return await context.interruptible(async (signal) => {
      const end = await waitUntilClosed(client, queryId, { signal });
      const read = () => client.call('getExecution', { id: queryId, signal });
      const { result, error } = await askPatiently(client.clock, read, signal);
      if (context.isJson)
        context.document({ ...answer, ...defined({ ...end, holding: undefined, result, error }) });
      else if (result !== undefined) context.data(plainBlock(result));
      if (error && !context.isJson) context.talk(`${error.code}: ${plainBlock(error.message)}`);
      return exitOfOutcome(end);
    });
  } catch (thrown) {
    if (thrown instanceof Interrupted) sayGoesOn(context, queryId);
    throw thrown;
  }
}
