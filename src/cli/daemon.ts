import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataDirectoryError, makeDataDirectory } from '../base/data-directory.ts';
import { type ErrorCode, errorCodes, StemmaError } from '../base/errors.ts';
import { readServerFile, readToken, type ServerFile } from '../client/discovery.ts';
import { send } from '../client/http.ts';
import { otherPaths } from '../contract/routes.ts';
import { formatDuration } from '../words/durations.ts';
import type { CliDeps, StartOptions } from './ports.ts';
import { waitFor } from './server-process.ts';

/** How long a server may take until it is ready, in milliseconds: recovery reads what its agents did meanwhile. */
const readyWithinMs = 120_000;

/**
 * Starts a server in a process of its own, which lives on when this one ends, and resolves once it answers `/readyz`.
 * Its output goes to DIR/server.log. A server that ends instead rejects with its own error.
 */
export async function startDaemon(deps: CliDeps, options: StartOptions): Promise<ServerFile> {
  await makeDataDirectory(options.dataDir);
  const logFile = join(options.dataDir, 'server.log');
  const log = openLog(options.dataDir, logFile);
  const logStart = fstatSync(log).size;
  const [program, ...script] = deps.self;
  const child = spawn(program, [...script, ...argumentsFor(options)], {
    detached: true,
    env: { ...deps.env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = { code: undefined as number | null | undefined, reason: '' };
  child.on('error', (error) => Object.assign(ended, { code: null, reason: error.message }));
  child.on('exit', (code, signal) => Object.assign(ended, { code, reason: signal ?? '' }));
  child.unref();
  let ready: ServerFile | undefined;
  const isDecided = async (): Promise<boolean> => {
    ready = await readyServer(options.dataDir, child);
    return ready !== undefined || ended.code !== undefined;
  };
  await waitFor(deps.clock, isDecided, readyWithinMs);
  if (ready) return ready;
  if (ended.code !== undefined) throw await startError(logFile, logStart, ended.reason);
  child.kill('SIGTERM');
  const message = `The server was not ready within ${formatDuration(readyWithinMs)} and was stopped; its log is ${logFile}.`;
  throw new StemmaError('TIMED_OUT', message, { logFile });
}

function openLog(dataDir: string, file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    throw dataDirectoryError(dataDir, error);
  }
}

function argumentsFor({ dataDir, host, port, configFile }: StartOptions): string[] {
  const flags = Object.entries({ '--host': host, '--port': port, '--config': configFile });
  const given = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
  return ['up', '--json', '--data', dataDir, ...given];
}

async function readyServer(dataDir: string, child: ChildProcess): Promise<ServerFile | undefined> {
  const server = await readServerFile(dataDir);
  if (!server || server.pid !== child.pid) return undefined;
  try {
    const token = await readToken(server.tokenFile);
    const response = await send({ url: server.url, token }, { path: otherPaths.readyz });
    await response.body?.cancel();
    return server;
  } catch {
    return undefined;
  }
}

// With --json a command that fails says so in its last line.
async function startError(logFile: string, logStart: number, reason: string): Promise<StemmaError> {
  const said = (await readFile(logFile)).subarray(logStart).toString('utf8').trim().split('\n');
  for (const line of said.toReversed()) {
    const error = parseError(line);
    if (error) return error;
  }
  const end = reason === '' ? 'It ended' : `It ended (${reason})`;
  return new StemmaError(
    'INTERNAL',
    `The server did not start. ${end}; its log is ${logFile}.\n${said.slice(-5).join('\n')}`,
  );
}

function parseError(line: string): StemmaError | undefined {
  if (!line.startsWith('{"error":')) return undefined;
  const { error } = JSON.parse(line) as {
    error: { code: ErrorCode; message: string; data: Record<string, unknown> };
  };
  return errorCodes.includes(error.code) ? new StemmaError(error.code, error.message, error.data) : undefined;
}
