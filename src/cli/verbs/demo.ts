import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StemmaError } from '../../base/errors.ts';
import { notRunning, readServerFile, readToken } from '../../client/discovery.ts';
import { StemmaClient } from '../../client/stemma-client.ts';
import type { RunFileInput } from '../../contract/run-file.ts';
import type { CliContext } from '../context.ts';
import { exitCodes, Interrupted } from '../exit.ts';
import { reportEnd, showLive } from '../live-view.ts';
import type { RunningServer, StartOptions } from '../ports.ts';
import { announceReady, startOptions, withStartOptions } from '../start-options.ts';
import { type Options, type Registrar, requiredText } from '../verb.ts';

/** What the demo sends; the script of the profile `demo` (examples/demo/background-work.json) knows these sentences. */
export const demoMessages = [
  'Run the nightly checks.',
  'Summarise what the checks found.',
  'Publish the report.',
] as const;

/** `stemma demo` and `stemma demo-agent`. */
export function addDemoVerbs({ program, verb }: Registrar): void {
  withStartOptions(
    program.command('demo').description('show a sequence with background work, live; the server stays'),
  )
    .option('--once', 'end with the sequence, in a fresh data directory; exit code = outcome')
    .action(verb(demo));
  program
    .command('demo-agent')
    .description('be the scripted ACP agent of the demo, on standard input and output')
    .requiredOption('--script <file>', 'what it does: a JSON file')
    .action(
      verb((context, _args, options) =>
        context.deps.runDemoAgent(['--script', requiredText(options['script'], 'file')]),
      ),
    );
}

async function demo(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const start = startOptions(context, options);
  if (options['once'] === true) return demoOnce(context, start);
  const server = await startOrFind(context, start);
  if (server === undefined) {
    const running = await readServerFile(start.dataDir);
    if (!running) throw notRunning(start.dataDir);
    context.talk(`The server at ${running.url} runs on this data directory: the demo plays there.`);
    const client = await clientOf(context, running);
    sayLink(context, (await client.call('createSignInLink')).url);
    return playDemo(context, client, start.dataDir, true);
  }
  const sayNext = (thrown: unknown): never => {
    if (thrown instanceof Interrupted)
      context.talk('\nThe server stops; the sequence goes on at the next start.');
    throw thrown;
  };
  return serve(context, server, async () => {
    sayLink(context, server.signInUrl);
    const exitCode = await playDemo(context, await clientOf(context, server), start.dataDir).catch(sayNext);
    context.talk(`The server stays at ${server.url}. Ctrl-C stops it.`);
    await context.interruptible((signal) => Promise.race([server.stopped, untilAborted(signal)]));
    context.talk('\nThe server stops.');
    return exitCode;
  });
}

// Nothing of it shall remain, unless it fails: then the data say why.
async function demoOnce(context: CliContext, start: StartOptions): Promise<number> {
  if (context.isDataFlag) return playAlone(context, { port: 0, ...start });
  const dataDir = await mkdtemp(join(tmpdir(), 'stemma-demo-'));
  let isWanted = true;
  try {
    const exitCode = await playAlone(context, { port: 0, ...start, dataDir });
    isWanted = exitCode !== exitCodes.ok;
    return exitCode;
  } catch (thrown) {
    isWanted = !(thrown instanceof Interrupted);
    throw thrown;
  } finally {
    if (isWanted) context.talk(`What happened is in ${dataDir}.`);
    else await rm(dataDir, { recursive: true, force: true });
  }
}

async function playAlone(context: CliContext, start: StartOptions): Promise<number> {
  const server = await context.deps.startServer(start);
  return serve(context, server, async () =>
    playDemo(context, await clientOf(context, server), start.dataDir),
  );
}

async function serve(
  context: CliContext,
  server: RunningServer,
  work: () => Promise<number>,
): Promise<number> {
  announceReady(context, server);
  try {
    return await work();
  } finally {
    // The demo's agents have nothing to go on with.
    await server.stop({ agents: true });
  }
}

/** Before the sequence begins: who wants to watch it on the page needs the link now. */
function sayLink(context: CliContext, url: string): void {
  context.talk(`Watch it in a browser; this link signs in, once: ${url}`);
}

/** A server of our own, or undefined when one runs on this data directory already: then the demo plays there. */
async function startOrFind(context: CliContext, start: StartOptions): Promise<RunningServer | undefined> {
  const { startServer } = context.deps;
  try {
    return await startServer(start);
  } catch (thrown) {
    if (!(thrown instanceof StemmaError)) throw thrown;
    if (thrown.code === 'DATA_DIR_IN_USE') return undefined;
    if (thrown.code === 'PORT_IN_USE' && start.port === undefined) return startServer({ ...start, port: 0 });
    throw thrown;
  }
}

/** Plays the sequence; `goesOn`: the server is not ours, and plays on when the user leaves. */
async function playDemo(
  context: CliContext,
  client: StemmaClient,
  cwd: string,
  goesOn = false,
): Promise<number> {
  const earlier = await unendedDemo(client);
  if (earlier !== undefined) context.talk('The sequence of an earlier start is not at its end; it goes on.');
  const runId = earlier ?? (await beginDemo(client, cwd));
  if (context.isJson) context.document({ event: 'started', runId });
  const target = { kind: 'run', id: runId } as const;
  const end = await context.interruptible((signal) => showLive(context, client, target, { signal, goesOn }));
  return reportEnd(context, target, end);
}

async function beginDemo(client: StemmaClient, cwd: string): Promise<string> {
  const body: RunFileInput = { agent: 'demo', name: 'demo', cwd, messages: [...demoMessages] };
  return (await client.call('createRun', { body })).runId;
}

// A server resumes what it did not finish: a second sequence beside it would only confuse.
async function unendedDemo(client: StemmaClient): Promise<string | undefined> {
  const { items } = await client.call('listRuns', { query: { state: 'running', limit: 500 } });
  return items.find(({ name, agent }) => name === 'demo' && agent === 'demo')?.id;
}

async function clientOf(
  context: CliContext,
  server: Pick<RunningServer, 'url' | 'tokenFile'>,
): Promise<StemmaClient> {
  const token = await readToken(server.tokenFile);
  return new StemmaClient({ url: server.url, token }, context.deps.clock);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
