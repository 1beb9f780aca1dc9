import { basename } from 'node:path';
import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import { Patience } from '../../client/retry.ts';
import type { Execution } from '../../contract/execution.ts';
import type { BodyInputOf } from '../../contract/routes.ts';
import type { CliContext } from '../context.ts';
import { type ProgramEnd, type RunningProgram, startProgram } from '../program-run.ts';
import { clip, plainLine } from '../../words/text.ts';
import { defined, type Options, type Registrar, textOf } from '../verb.ts';

/** `stemma exec -- CMD`: runs a program as an execution, so that whatever it starts is in the tree. */
export function addExecVerb({ program, verb }: Registrar): void {
  program
    .command('exec')
    .description(
      'run a command as an execution: with an execution token below it, else as a root; exit code = that of the command',
    )
    .usage('[options] -- <command> [args...]')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--name <name>', 'what it is called (default: the command)')
    .option('--key <key>', 'what it is: attempts of the same thing have the same key')
    .action(verb(exec));
}

async function exec(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const [program = '', ...rest] = (args[0] as string[] | undefined) ?? [];
  const client = await context.connect();
  const name = textOf(options['name']) ?? nameFor(program, rest);
  const body = { kind: 'outside' as const, name, ...defined({ key: textOf(options['key']) }) };
  const registered = await client.call('registerExecution', { body });
  if (context.isJson)
    context.talk(
      JSON.stringify({ event: 'started', execution: defined({ ...registered, token: undefined }) }),
    );
  const env = { ...context.deps.env, ...identityFor(context, client, registered) };
  const running = startProgram(context.deps, program, rest, env);
  const heartbeats = beat(context, client, registered.id, running);
  const end = await running.ended;
  heartbeats.stop();
  await settle(context, client, registered.id, bodyFor(program, end, heartbeats.isCancelled()));
  if (end.startError !== undefined) context.talk(`stemma: ${end.startError}`);
  return end.exitCode;
}

/** Often enough that a cancel reaches the program soon; milliseconds. */
const heartbeatMs = 5_000;
const longestName = 120;

function nameFor(program: string, args: readonly string[]): string {
  return clip(plainLine([basename(program), ...args].join(' ')), longestName) || 'command';
}

// Only the token of this very execution goes in: with the caller's own, the program's children would get its parent.
function identityFor(context: CliContext, client: StemmaClient, registered: { token?: string | undefined }) {
  const { env, newKey } = context.deps;
  const trace = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/.exec(env['TRACEPARENT'] ?? '');
  return {
    STEMMA_URL: client.connection.url,
    STEMMA_TOKEN: registered.token,
    TRACEPARENT: `00-${trace?.[1] ?? newKey()}-${newKey().slice(0, 16)}-${trace?.[2] ?? '01'}`,
  };
}

interface Heartbeats {
  stop(): void;
  /** Whether somebody asked for the end of it. */
  isCancelled(): boolean;
}

function beat(context: CliContext, client: StemmaClient, id: string, running: RunningProgram): Heartbeats {
  const { clock } = context.deps;
  let isCancelled = false;
  let isStopped = false;
  let cancelTimer = (): void => {};
  const arm = (): void => {
    if (!isStopped) cancelTimer = clock.after(heartbeatMs, () => void once());
  };
  const once = async (): Promise<void> => {
    // A heartbeat that does not arrive is missed by the server, not by the program.
    const answer = await client.call('heartbeatExecution', { id }).catch(() => undefined);
    if (answer && (answer.cancelRequested || answer.closed) && !isStopped) {
      isCancelled = true;
      running.terminate();
      return;
    }
    arm();
  };
  arm();
  return {
    stop() {
      isStopped = true;
      cancelTimer();
    },
    isCancelled: () => isCancelled,
  };
}

function bodyFor(program: string, end: ProgramEnd, isCancelled: boolean): BodyInputOf<'settleExecution'> {
  if (end.exitCode === 0) return { state: 'succeeded', result: 'exit code 0' };
  const how =
    end.startError ??
    (end.signal === undefined ? `ended with exit code ${end.exitCode}` : `was ended by ${end.signal}`);
  const message = end.startError ?? `${basename(program)} ${how}`;
  if (isCancelled || end.wasSignalled) return { state: 'cancelled', error: { message } };
  return { state: 'failed', error: { message } };
}

// The command's own end is what the caller asked for; that it could not be recorded is said, and changes no exit code.
async function settle(
  context: CliContext,
  client: StemmaClient,
  id: string,
  body: NonNullable<BodyInputOf<'settleExecution'>>,
): Promise<Execution | undefined> {
  const patience = new Patience(context.deps.clock);
  patience.succeeded();
  for (;;) {
    try {
      return await client.call('settleExecution', { id, body });
    } catch (thrown) {
      try {
        await patience.failed(thrown);
      } catch (final) {
        const reason = final instanceof StemmaError ? final.message : String(final);
        context.talk(`stemma: the end of ${id} could not be recorded: ${reason}`);
        return undefined;
      }
    }
  }
}
