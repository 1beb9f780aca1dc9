import { setMaxListeners } from 'node:events';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import pino from 'pino';
import type { Logger } from 'pino';
import { createApi } from '../api/app.ts';
import type { Listener } from '../api/listener.ts';
import { listen } from '../api/listener.ts';
import { loadPage } from '../api/pages.ts';
import { systemClock } from '../base/clock.ts';
import { StemmaError } from '../base/errors.ts';
import { Redaction } from '../base/redaction.ts';
import { hashToken, randomToken } from '../base/tokens.ts';
import { loadConfigFile, withPlaces } from '../cli/config-file.ts';
import type { RunningServer, StartOptions } from '../cli/ports.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import { acpDriver } from '../drivers/acp/driver.ts';
import { claudeDriver } from '../drivers/claude/driver.ts';
import { codexDriver } from '../drivers/codex/driver.ts';
import { opencodeDriver } from '../drivers/opencode/driver.ts';
import { piDriver } from '../drivers/pi/driver.ts';
import type { Driver } from '../drivers/port.ts';
import { scriptDriver } from '../drivers/script/script-driver.ts';
import { terminalDriver } from '../drivers/terminal/driver.ts';
import type { Records } from '../store/records.ts';
import { TerminalOrder } from '../terminal/terminal-order.ts';
import { factsOf } from './agent-facts.ts';
import { createAgents } from './agents.ts';
import { createApp } from './app.ts';
import { takeOverSchedules } from './configured-schedules.ts';
import type { CrashLog } from './crash.ts';
import type { DataDirectory } from './data-directory.ts';
import { ownDataDirectory, readLine, writePrivate } from './data-directory.ts';
import type { ServerState } from './edge-ports.ts';
import { armFaultSwitch } from './fault-switch.ts';
import { notifySettings } from './notifications.ts';
import { openStore } from './open-store.ts';
import { settingsFacts } from './settings-facts.ts';
import { packageVersion } from './version.ts';
import { workflowFiles } from './workflow-files.ts';
import { workflowProjectOf } from './workflow-project.ts';

/** Where the server listens when nobody says. */
const defaultPort = 4600;
/** How long open requests have to end when the server stops. */
const closeGraceMs = 2000;

/** How the server was started, apart from what was asked of it. */
export interface Installation {
  /** Program and arguments that start this program again. */
  readonly self: readonly string[];
  readonly examplesDirectory: string;
  readonly pageDirectory: string;
  /** Hears where the log of a server is, before anything else can go wrong. */
  readonly onLog?: (place: CrashLog) => void;
}

/**
 * The drivers that there are. `stopping`: aborted when the server stops, so that it waits for no agent to come up.
 * `order`: that of the terminals which the server has of the same sessions.
 */
export function createDrivers(
  stopping = new AbortController().signal,
  order = new TerminalOrder(),
): Driver[] {
  const clock = systemClock;
  // Every agent that is coming up waits for it, and many may at once.
  setMaxListeners(0, stopping);
  return [
    codexDriver({ clock }),
    opencodeDriver({ clock }),
    claudeDriver({ clock, stopping }),
    piDriver({ clock, stopping }),
    acpDriver({ clock, stopping }),
    scriptDriver({ clock }),
    terminalDriver({ clock, order }),
  ];
}

/**
 * Starts a server on a data directory; resolves when it is ready. What was opened is closed again when a later step fails,
 * in the reverse order.
 */
export async function startServer(options: StartOptions, installation: Installation): Promise<RunningServer> {
  armFaultSwitch(process.env['STEMMA_FAULT']);
  const config = options.configFile === undefined ? {} : await loadConfigFile(options.configFile);
  const directory = await ownDataDirectory(options.dataDir);
  const opened: (() => Promise<void>)[] = [() => directory.release()];
  try {
    return await startIn(directory, options, config, installation, opened);
  } catch (error) {
    for (const close of opened.reverse()) await close().catch(() => undefined);
    throw error;
  }
}

async function startIn(
  directory: DataDirectory,
  options: StartOptions,
  config: ConfigFile,
  installation: Installation,
  opened: (() => Promise<void>)[],
): Promise<RunningServer> {
  const redaction = new Redaction();
  const log = openLog(directory.logFile, redaction);
  installation.onLog?.({ log, file: directory.logFile });
  const store = await openStore({
    url: options.database ?? config.database,
    file: directory.databaseFile,
    log,
    redaction,
  });
  opened.push(() => store.close());
  const stopping = new AbortController();
  const terminalOrder = new TerminalOrder();
  const drivers = createDrivers(stopping.signal, terminalOrder);
  const configDirectory = options.configFile === undefined ? process.cwd() : dirname(options.configFile);
  const agents = await withPlaces(options.configFile, () =>
    createAgents(drivers, config, installation, store.records, configDirectory),
  );
  let state: ServerState = 'recovering';
  let listener: Listener | undefined;
  const host = options.host ?? config.server?.host ?? '127.0.0.1';
  const origin = (): string => `http://${host.includes(':') ? `[${host}]` : host}:${listener?.port ?? 0}`;
  const version = await packageVersion();
  const parts = { clock: systemClock, log, store, secret: directory.secret, agents, drivers, version };
  const publicUrl = config.server?.publicUrl;
  const notify = notifySettings(config);
  const { configFile } = options;
  const workflows = workflowFiles({
    project: configFile === undefined ? undefined : workflowProjectOf(config, configFile),
    facts: () => factsOf(agents, config),
    env: process.env,
  });
  const app = await createApp({
    ...parts,
    workflows,
    redaction,
    configDirectory,
    dataDir: directory.path,
    limits: config.limits,
    reviews: config.reviews ?? {},
    terminalOrder,
    notify,
    diskLowBytes: config.disk?.lowBytes,
    pageUrl: () => publicUrl ?? origin(),
    settings: settingsFacts({
      version,
      dataDir: directory.path,
      publicUrl,
      notify,
      lowBytes: config.disk?.lowBytes,
    }),
    origin,
    state: () => state,
  });
  const health = { ...app.ports.health, ...(configFile === undefined ? {} : { configFile }) };
  const api = createApi(
    { ...app.ports, health },
    {
      clock: systemClock,
      log,
      port: () => listener?.port ?? 0,
      page: await loadPage(installation.pageDirectory),
      hosts: [host],
      ...(publicUrl === undefined ? {} : { publicUrl }),
    },
  );
  const ports = await portsToTry(options.port ?? config.server?.port ?? defaultPort, store.records);
  listener = await listenOnOne(ports, (port) => listen({ host, port, clock: systemClock, fetch: api.fetch }));
  opened.push(() => (listener as Listener).close(0));
  await store.records.writeMeta('last_port', String(listener.port));
  await ensureToken(directory, store.records);
  const schedules = await takeOverSchedules(config, options.configFile, app.ports.schedules, log);
  await app.start();
  state = 'ready';
  const { code } = await app.ports.access.createSignInCode('admin');
  const url = origin();
  const described = {
    url,
    dataDir: directory.path,
    tokenFile: directory.tokenFile,
    pid: process.pid,
    version,
    signInUrl: `${(publicUrl ?? url).replace(/\/+$/, '')}/signin?code=${code}`,
  };
  await writePrivate(directory.serverFile, `${JSON.stringify({ event: 'ready', ...described })}\n`);
  const stop = stopOnce(async ({ agents: endAgents = false }) => {
    state = 'stopping';
    stopping.abort();
    api.stop();
    await listener?.close(closeGraceMs);
    await app.stop({ agents: endAgents });
    await store.close();
    await rm(directory.serverFile, { force: true });
    await directory.release();
  });
  return { ...described, ...(schedules ? { schedules } : {}), ...stop };
}

type StopOptions = { readonly agents?: boolean };

/** A stop that happens once, however often it is asked for, and that others can wait for. */
function stopOnce(work: (options: StopOptions) => Promise<void>): Pick<RunningServer, 'stop' | 'stopped'> {
  let stopping: Promise<void> | undefined;
  let tell: (result: Promise<void>) => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return {
    stopped,
    stop(options = {}) {
      stopping ??= work(options);
      tell(stopping);
      return stopping;
    },
  };
}

/** Nothing goes into the log but through the redaction, whoever wrote it. */
function openLog(file: string, redaction: Redaction): Logger {
  const level = process.env['STEMMA_LOG'] || 'info';
  const levels = ['silent', ...Object.keys(pino.levels.values)];
  if (!levels.includes(level)) {
    const message = `STEMMA_LOG is "${level}"; it is one of ${levels.join(', ')}.`;
    throw new StemmaError('INVALID_CONFIG', message, { key: 'STEMMA_LOG' });
  }
  const destination = pino.destination({ dest: file, mkdir: false, sync: true });
  return pino({ level }, { write: (line: string) => destination.write(redaction.text(line)) });
}

/**
 * An agent that outlived the last server knows the tools by the address of that server. So a server that may choose its
 * port takes the last one again, if it is free.
 */
async function portsToTry(wanted: number, records: Records): Promise<number[]> {
  const last = Number(await records.readMeta('last_port'));
  return wanted === 0 && Number.isInteger(last) && last > 0 ? [last, 0] : [wanted];
}

async function listenOnOne(
  ports: readonly number[],
  open: (port: number) => Promise<Listener>,
): Promise<Listener> {
  for (const [index, port] of ports.entries()) {
    try {
      return await open(port);
    } catch (error) {
      const isTaken = error instanceof StemmaError && error.code === 'PORT_IN_USE';
      if (!isTaken || index === ports.length - 1) throw error;
    }
  }
  throw new Error('no port to try');
}

/** The first token: made at the first start, an administrator's, in a file that only its owner can read. */
async function ensureToken(directory: DataDirectory, records: Records): Promise<void> {
  const known = await readLine(directory.tokenFile);
  if (known && (await records.tokenByHash(hashToken(known)))?.revokedAt === null) return;
  const token = randomToken('stm_api_');
  const now = systemClock.now();
  await records.revokeToken('admin', now);
  await records.putToken({
    hash: hashToken(token),
    name: 'admin',
    scope: 'admin',
    createdAt: now,
    revokedAt: null,
  });
  await writePrivate(directory.tokenFile, `${token}\n`);
}
