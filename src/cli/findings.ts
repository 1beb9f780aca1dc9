import { execFile } from 'node:child_process';
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StemmaError } from '../base/errors.ts';
import { readServerFile, readToken } from '../client/discovery.ts';
import { StemmaClient } from '../client/stemma-client.ts';
import { findConfigFile, loadConfigFile } from './config-file.ts';
import type { CliContext } from './context.ts';
import { databaseFindings } from './database-finding.ts';
import type { Finding } from './finding.ts';
import type { AgentListing } from './ports.ts';
import { isAlive } from './server-process.ts';

/** The oldest Node.js that it runs on: major and minor. */
const oldestNode = [20, 19] as const;
/** With less free than this the ledger may soon refuse to write; with less than the second it is a matter of time. Bytes. */
const tooLittle = 200_000_000;
const little = 2_000_000_000;
/** How long a program may take to tell its version. Milliseconds. */
const versionWithinMs = 5_000;

/** Looks at what Stemma needs around it, one after the other. `config`: the file that is meant, if one is. */
export async function findingsOf(context: CliContext, config: string | undefined): Promise<Finding[]> {
  const { cwd } = context.deps;
  const used = await usedBy(context);
  const configFile =
    config === undefined && used?.file !== undefined ? used.file : findConfigFile(cwd, config);
  const request = configFile === undefined ? {} : { configFile };
  const configuration = await configurationFinding(configFile, used);
  const rest = configuration.state === 'fail' ? [] : await configuredFindings(context, request);
  return [
    nodeFinding(process.versions.node),
    await directoryFinding(context.dataDir),
    await diskFinding(context.dataDir),
    await serverFinding(context.dataDir),
    ...(await databaseFindings(context, configFile)),
    await tmuxFinding(),
    configuration,
    ...rest,
  ];
}

/** The configuration that a server of this data directory was started with; undefined when none answers. */
interface Used {
  readonly file: string | undefined;
}

async function usedBy({ dataDir, deps }: CliContext): Promise<Used | undefined> {
  const server = await readServerFile(dataDir);
  if (!server || !isAlive(server.pid)) return undefined;
  try {
    const client = new StemmaClient(
      { url: server.url, token: await readToken(server.tokenFile) },
      deps.clock,
    );
    const { configFile } = await client.call('version', { signal: AbortSignal.timeout(versionWithinMs) });
    return { file: configFile };
  } catch {
    // That it does not answer is a finding of its own.
    return undefined;
  }
}

async function configuredFindings(
  context: CliContext,
  request: { readonly configFile?: string },
): Promise<Finding[]> {
  try {
    const agents = await context.deps.listAgentsOffline(request);
    return [...(await workflowFindings(context, request)), ...agents.map(agentFinding)];
  } catch (thrown) {
    // Some mistakes show themselves only when the agents are made.
    if (!(thrown instanceof StemmaError)) throw thrown;
    return [{ what: 'agents', state: 'fail', seen: thrown.message, advice: 'correct the configuration' }];
  }
}

/** Whether this Node.js is new enough. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  const found = { what: 'node', seen: version };
  return isNew
    ? { ...found, state: 'ok' }
    : { ...found, state: 'fail', advice: `install Node.js ${oldestNode.join('.')} or later` };
}

async function directoryFinding(directory: string): Promise<Finding> {
  const what = 'data';
  const found = await stat(directory).catch(() => undefined);
  if (!found) return { what, state: 'ok', seen: `${directory} is not there yet; "stemma up" makes it` };
  if (!found.isDirectory())
    return {
      what,
      state: 'fail',
      seen: `${directory} is no directory`,
      advice: 'name another one with --data',
    };
  const mayWrite = await access(directory, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!mayWrite)
    return {
      what,
      state: 'fail',
      seen: `${directory} may not be written`,
      advice: `chown or chmod it, or use --data`,
    };
  const token = await stat(join(directory, 'token')).catch(() => undefined);
  if (token && (token.mode & 0o077) !== 0)
    return {
      what,
      state: 'warn',
      seen: `others may read ${directory}/token`,
      advice: `chmod 600 ${directory}/token`,
    };
  return { what, state: 'ok', seen: directory };
}

async function diskFinding(directory: string): Promise<Finding> {
  const what = 'disk';
  const { bavail, bsize } = await statfs(await existing(directory));
  const free = bavail * bsize;
  const seen = `${(free / 1e9).toFixed(1)} GB free`;
  if (free < tooLittle)
    return { what, state: 'fail', seen, advice: 'free some: nothing can be written soon' };
  if (free < little)
    return { what, state: 'warn', seen, advice: 'free some: the ledger and the records grow' };
  return { what, state: 'ok', seen };
}

/** The nearest directory above that is there. */
async function existing(directory: string): Promise<string> {
  const isThere = await access(directory).then(
    () => true,
    () => false,
  );
  return isThere || dirname(directory) === directory ? directory : existing(dirname(directory));
}

async function serverFinding(dataDir: string): Promise<Finding> {
  const what = 'server';
  const server = await readServerFile(dataDir);
  if (!server) return { what, state: 'ok', seen: 'none runs; "stemma up" starts one' };
  if (!isAlive(server.pid)) {
    const seen = `the one of ${dataDir} (pid ${server.pid}) died`;
    return {
      what,
      state: 'warn',
      seen,
      advice: '"stemma up" starts one again, and goes on where it stopped',
    };
  }
  const answers = await fetch(new URL('/healthz', server.url), {
    signal: AbortSignal.timeout(versionWithinMs),
  }).then(
    ({ ok }) => ok,
    () => false,
  );
  const seen = `${server.url} pid=${server.pid}`;
  return answers
    ? { what, state: 'ok', seen }
    : { what, state: 'fail', seen: `${seen} does not answer`, advice: '"stemma down", then "stemma up"' };
}

function tmuxFinding(): Promise<Finding> {
  const what = 'tmux';
  return new Promise((resolve) => {
    execFile('tmux', ['-V'], { timeout: versionWithinMs }, (error, out) =>
      resolve(
        error
          ? {
              what,
              state: 'warn',
              seen: 'not found',
              advice: 'install tmux to see agents at their own screens (stemma session attach)',
            }
          : { what, state: 'ok', seen: out.trim() },
      ),
    );
  });
}

async function configurationFinding(file: string | undefined, used: Used | undefined): Promise<Finding> {
  const what = 'config';
  if (file === undefined) return { what, state: 'ok', seen: 'no stemma.yaml here; "stemma init" writes one' };
  const other = used?.file === undefined ? 'none' : used.file;
  try {
    await loadConfigFile(file);
    if (!used) return { what, state: 'ok', seen: file };
    if (used.file === file) return { what, state: 'ok', seen: `${file}, which the server uses` };
    const advice = `"stemma down", then "stemma up --config ${file}", if the server is to use it`;
    return { what, state: 'warn', seen: `${file}; the running server uses ${other}`, advice };
  } catch (thrown) {
    if (!(thrown instanceof StemmaError)) throw thrown;
    return { what, state: 'fail', seen: thrown.message, advice: `correct ${file}` };
  }
}

async function workflowFindings(
  { deps }: CliContext,
  request: { readonly configFile?: string },
): Promise<Finding[]> {
  const items = await deps.checkWorkflows({ cwd: deps.cwd, wanted: [], ...request });
  const wrong = items.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
  if (items.length === 0) return [];
  if (wrong.length === 0) return [{ what: 'workflows', state: 'ok', seen: `${items.length}, no mistakes` }];
  const seen = `mistakes in ${wrong.join(', ')}`;
  return [{ what: 'workflows', state: 'fail', seen, advice: '"stemma workflow check" tells them' }];
}

function agentFinding({ name, isBuiltIn, check, install }: AgentListing): Finding {
  const what = `agent ${name}`;
  if (!check)
    return {
      what,
      state: 'warn',
      seen: 'its program did not answer in time',
      advice: `stemma agent check ${name}`,
    };
  // One that nobody configured may be missing: nobody has asked for it.
  const state = isBuiltIn ? 'ok' : 'fail';
  const isMissing = 'its program is not installed';
  if (!check.found && isBuiltIn)
    return { what, state, seen: install ? `${isMissing}; if you want it: ${install}` : isMissing };
  if (!check.found) return { what, state, seen: isMissing, ...(install ? { advice: install } : {}) };
  const version = check.version ?? 'found';
  if (check.signedIn === 'no')
    return {
      what,
      state: 'warn',
      seen: `${version}, nobody is signed in`,
      advice: check.signIn ?? `stemma agent check ${name}`,
    };
  return {
    what,
    state: check.warnings.length > 0 ? 'warn' : 'ok',
    seen: [version, ...check.warnings].join('; '),
  };
}
