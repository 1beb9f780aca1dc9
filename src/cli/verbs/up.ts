import type { ApplyAnswer } from '../../contract/schedule.ts';
import type { CliContext } from '../context.ts';
import { startDaemon } from '../daemon.ts';
import { exitCodes } from '../exit.ts';
import type { RunningServer } from '../ports.ts';
import { differenceCounts, differenceLines } from '../schedule-words.ts';
import { announceReady, startOptions, withStartOptions } from '../start-options.ts';
import { plainLine } from '../../words/text.ts';
import type { Options, Registrar } from '../verb.ts';

/** `stemma up`: a server in the foreground, or with `--daemon` in a process of its own. */
export function addUpVerb({ program, verb }: Registrar): void {
  withStartOptions(program.command('up').description('start the server; prints one line once it is ready'))
    .option('--daemon', 'start it in the background and return once it is ready')
    .action(verb(up));
}

async function up(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const start = startOptions(context, options);
  if (options['daemon'] === true) {
    announceReady(context, await startDaemon(context.deps, start));
    return exitCodes.ok;
  }
  const server = await context.deps.startServer(start);
  const interruption = new AbortController();
  const release = stopOnSignals(context, server, () => interruption.abort());
  announceReady(context, server);
  if (server.schedules) sayTakenOver(context, server.schedules);
  if (context.deps.stdout.isTty) context.talk(`The page: ${server.signInUrl}`);
  try {
    await server.stopped;
  } finally {
    release();
  }
  if (interruption.signal.aborted) context.talk('Stopped. Agents live on; "stemma up" goes on with them.');
  return exitCodes.ok;
}

function sayTakenOver(context: CliContext, answer: ApplyAnswer): void {
  context.talk(`Schedules of ${plainLine(answer.project)}: ${differenceCounts(answer)}.`);
  for (const line of differenceLines(answer)) context.talk(line);
}

/**
 * Stops the server on SIGTERM, SIGINT and SIGHUP; agents live on. SIGUSR2 (`stemma down --agents`) ends them too. A second
 * SIGINT does what it does by default: a person who presses Ctrl-C twice does not want to wait.
 */
function stopOnSignals(context: CliContext, server: RunningServer, onInterrupt: () => void): () => void {
  const { onSignal } = context.deps;
  const stop = (agents: boolean): void => {
    releaseInterrupt();
    // How it ended is told by `stopped`.
    server.stop({ agents }).catch(() => {});
  };
  const releaseInterrupt = onSignal('SIGINT', () => {
    onInterrupt();
    stop(false);
  });
  const offs = [
    onSignal('SIGTERM', () => stop(false)),
    onSignal('SIGHUP', () => stop(false)),
    onSignal('SIGUSR2', () => stop(true)),
  ];
  return () => {
    for (const off of [releaseInterrupt, ...offs]) off();
  };
}
