import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StemmaError } from '../../src/base/errors.ts';
import type { RunningServer, StartOptions } from '../../src/cli/ports.ts';
import { processDeps } from '../../src/cli/process-deps.ts';
import { runCli } from '../../src/cli/program.ts';
import { isAlive } from '../../src/cli/server-process.ts';
import { ContractServer, problem } from './contract-server.ts';

// The command line in a process of its own, over a server that only listens: for what signals, files and pipes do.

async function startServer({ dataDir, port }: StartOptions): Promise<RunningServer> {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'server.json');
  const owner = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid
    : undefined;
  if (owner !== undefined && isAlive(owner)) {
    throw new StemmaError('DATA_DIR_IN_USE', `The server ${owner} owns ${dataDir}.`, { pid: owner });
  }
  if (port === 1) throw new StemmaError('PORT_IN_USE', 'The port 1 is taken.', { port });
  const server = new ContractServer();
  await server.start();
  server.routes['GET /sessions'] = () => ({ body: { items: [] } });
  const tokenFile = join(dataDir, 'token');
  const token = randomBytes(8).toString('hex');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  server.routes['GET /readyz'] = (_body, _url, { headers }) =>
    headers.authorization === `Bearer ${token}` ? { body: {} } : problem('UNAUTHORIZED', 'no token');
  const ready = {
    url: server.url,
    dataDir,
    tokenFile,
    pid: process.pid,
    version: '0.0.0',
    signInUrl: `${server.url}/signin`,
  };
  writeFileSync(file, JSON.stringify({ event: 'ready', ...ready }));
  let markStopped = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    markStopped = resolve;
  });
  const stop = async ({ agents = false } = {}): Promise<void> => {
    writeFileSync(join(dataDir, 'stopped'), agents ? 'with agents' : 'alone');
    rmSync(file, { force: true });
    await server.stop();
    markStopped();
  };
  return { ...ready, stop, stopped };
}

process.exitCode = await runCli(process.argv.slice(2), {
  ...processDeps(process.argv[1] ?? ''),
  version: '0.0.0',
  examplesDirectory: '/',
  startServer,
  runDemoAgent: async () => 0,
  checkAgentOffline: () => Promise.reject(new Error('no agent is checked here')),
  checkWorkflows: async () => [],
  listAgentsOffline: async () => [],
  lookAtDatabase: () => Promise.reject(new Error('there is no database here')),
  scheduleFacts: async () => ({ agents: [], refusalOfBudget: () => undefined, targets: [] }),
});
