import { Option } from 'commander';
import { StemmaError } from '../../base/errors.ts';
import { notRunning, readServerFile, readToken, type ServerFile } from '../../client/discovery.ts';
import { StemmaClient } from '../../client/stemma-client.ts';
import { scopes } from '../../contract/route-spec.ts';
import type { CliContext } from '../context.ts';
import { formatDuration } from '../../words/durations.ts';
import { exitCodes } from '../exit.ts';
import { isAlive, waitFor } from '../server-process.ts';
import { plainLine } from '../../words/text.ts';
import type { Options, Registrar } from '../verb.ts';

/** `stemma down`, `status` and `open`. */
export function addServerVerbs({ program, verb }: Registrar): void {
  program
    .command('down')
    .description('stop the server of the data directory; agents live on')
    .option('--agents', 'end the agents too')
    .action(verb(down));
  program.command('status').description('say whether a server runs, and what it does').action(verb(status));
  program
    .command('open')
    .description('print a link that signs a browser in, once')
    .addOption(
      new Option('--scope <scope>', 'what the browser may do; read: look only')
        .choices(scopes)
        .default('admin'),
    )
    .action(verb(open));
}

/** How long a server may take to stop before `down` gives up, in milliseconds. */
const stopWithinMs = 60_000;

async function down(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const { dataDir } = context;
  const server = await readServerFile(dataDir);
  if (!server || !isAlive(server.pid)) throw notRunning(dataDir);
  await checkIsOurs(context, server);
  // See `stemma up`: SIGUSR2 asks it to end its agents as well.
  process.kill(server.pid, options['agents'] === true ? 'SIGUSR2' : 'SIGTERM');
  const isGone = await waitFor(context.deps.clock, () => !isAlive(server.pid), stopWithinMs);
  if (!isGone) {
    const message = `The server ${server.pid} has not stopped within ${formatDuration(stopWithinMs)}. Its log says why.`;
    throw new StemmaError('TIMED_OUT', message, { pid: server.pid });
  }
  if (context.isJson)
    context.document({ stopped: true, pid: server.pid, dataDir, agents: options['agents'] === true });
  else context.data(`stopped ${server.url} pid=${server.pid}`);
  return exitCodes.ok;
}

// After a crash the file may be old and the pid another program's: only who takes this directory's token is its server.
async function checkIsOurs(context: CliContext, server: ServerFile): Promise<void> {
  const token = await readToken(server.tokenFile);
  const client = new StemmaClient({ url: server.url, token }, context.deps.clock);
  try {
    await client.call('listSessions', { query: { limit: 1 } });
  } catch (thrown) {
    const isAnswering = thrown instanceof StemmaError && ['RECOVERING', 'STOPPING'].includes(thrown.code);
    if (isAnswering) return;
    const message = `${server.url} does not answer as the server of ${context.dataDir}; if the process ${server.pid} is it, end that by hand.`;
    throw new StemmaError('UNREACHABLE', message, { url: server.url, pid: server.pid }, thrown);
  }
}

async function status(context: CliContext): Promise<number> {
  const client = await context.connect();
  const { url } = client.connection;
  const [{ version }, monitor] = await Promise.all([
    client.call('version'),
    client.call('monitor', { query: { limit: 500 } }),
  ]);
  const local = await readServerFile(context.dataDir);
  const own = local?.url === url ? { dataDir: local.dataDir, pid: local.pid } : {};
  const waiting = monitor.items.filter((row) => row.waiting !== undefined).length;
  const isMore = monitor.nextCursor !== undefined;
  if (context.isJson) {
    context.document({
      running: true,
      url,
      version,
      ...own,
      liveRoots: monitor.items.length,
      isMore,
      waiting,
    });
    return exitCodes.ok;
  }
  context.data(
    `stemma ${plainLine(version)} at ${url}${own.pid === undefined ? '' : ` data=${own.dataDir} pid=${own.pid}`}`,
  );
  context.data(`${monitor.items.length}${isMore ? ' or more' : ''} live roots, ${waiting} of them waiting`);
  if (monitor.items.length > 0) context.talk('stemma ls lists them.');
  return exitCodes.ok;
}

async function open(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const scope = options['scope'] as (typeof scopes)[number];
  const link = await client.call('createSignInLink', { body: { scope } });
  if (context.isJson) context.document(link);
  else context.data(link.url);
  return exitCodes.ok;
}
