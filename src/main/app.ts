import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ApiPorts } from '../api/ports.ts';
import { createCallers, createIdempotency } from '../application/access.ts';
import { createExecutionCommands, createNoticeCommands } from '../application/commands.ts';
import { usageTold } from '../application/budgets.ts';
import type { AgentDirectory, ApplicationContext, ReviewKind } from '../application/context.ts';
import { createActivity } from '../application/activity.ts';
import { createFeed } from '../application/feed.ts';
import { createNotifications } from '../application/notifications.ts';
import { createIdResolution, createQueries } from '../application/queries.ts';
import { createRunCommands, createSessionCommands } from '../application/session-commands.ts';
import { createStandingRunCommands } from '../application/standing-runs.ts';
import { closeTerminals, createTerminals } from '../application/terminals.ts';
import { createToolCalls } from '../application/tool-calls.ts';
import { createTranscript } from '../application/transcript.ts';
import { createWaiting } from '../application/waiting.ts';
import { createWorkflowCommands } from '../application/workflow-commands.ts';
import { createWorkflowQueries } from '../application/workflow-queries.ts';
import type { Clock } from '../base/clock.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { Ids } from '../base/ids.ts';
import { Owner } from '../base/lifetime.ts';
import type { Redaction } from '../base/redaction.ts';
import { TokenSigner } from '../base/tokens.ts';
import type { Driver } from '../drivers/port.ts';
import { scriptDriver } from '../drivers/script/script-driver.ts';
import { Launcher } from '../launching/launcher.ts';
import { WorkflowLaunches } from '../launching/workflow-launches.ts';
import { createToolEndpoint } from '../mcp/endpoint.ts';
import type { TurnLimits } from '../ledger/line.ts';
import { ask } from '../ledger/questions.ts';
import type { UsageTold } from '../ledger/spending.ts';
import { diskRunRecords } from '../run-records/disk-run-records.ts';
import { stepData } from '../step-data/step-data.ts';
import { Commits } from '../runs/commits.ts';
import { Stopping } from '../runs/stopping.ts';
import { messageTexts } from '../runs/texts.ts';
import type { RunsContext } from '../runs/ports.ts';
import { stepTexts } from '../runs/step-texts.ts';
import { Steps } from '../runs/steps.ts';
import type { NotificationWake } from '../runs/wake-handler.ts';
import { wakeHandler } from '../runs/wake-handler.ts';
import type { WholeStore } from '../store/whole-store.ts';
import type { TerminalOrder } from '../terminal/terminal-order.ts';
import { TmuxTerminals } from '../terminal/tmux-terminals.ts';
import { Sessions } from '../turns/sessions.ts';
import type { WorkflowSource } from '../workflows/port.ts';
import { localWakeups } from '../wakeups/local.ts';
import { LocalWorkspaces } from '../workspaces/local-workspaces.ts';
import { createCommands } from './commands.ts';
import { agentsPorts, healthPorts } from './edge-ports.ts';
import type { ServerState } from './edge-ports.ts';
import { watchDisk } from './disk-watch.ts';
import { prepareLaunches } from './launch-preparation.ts';
import { clearLeftCommands } from './left-commands.ts';
import { createNotifier, type NotifySettings } from './notifications.ts';
import { textSources } from './text-sources.ts';
import { createScheduling } from './scheduling.ts';

/** What the application is made of from outside. */
export interface AppParts extends Pick<ApiPorts, 'settings'> {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: WholeStore;
  readonly secret: Buffer;
  readonly agents: AgentDirectory;
  readonly drivers: readonly Driver[];
  readonly dataDir: string;
  /** The drivers that have terminals share it. */
  readonly terminalOrder: TerminalOrder;
  readonly version: string;
  /** How many turns may run at once. */
  readonly limits: TurnLimits | undefined;
  /** Where workflows are defined. */
  readonly workflows: WorkflowSource;
  /** The kinds of reviews that are configured. */
  readonly reviews: Readonly<Record<string, ReviewKind>>;
  /** Keeps the values of secrets out of everything that is kept or told. */
  readonly redaction: Redaction;
  /** From where the relative paths of profiles are meant. */
  readonly configDirectory: string;
  readonly notify: NotifySettings;
  /** Below so many free bytes people are told; 0: never. */
  readonly diskLowBytes?: number | undefined;
  /** The address of the page, for people. */
  readonly pageUrl: () => string;
  /** Where the server listens; known when it does. */
  readonly origin: () => string;
  readonly state: () => ServerState;
}

/** A wired application. */
export interface App {
  readonly ports: ApiPorts;
  /** Finds out what earlier processes left, then begins to deliver and to call handlers. */
  start(): Promise<void>;
  /** Begins nothing more and resolves when nothing runs; agents live on unless they are to end too. */
  stop(options: { readonly agents: boolean }): Promise<void>;
}

/** How many scripts of workflows run at once. */
const mostScripts = 16;
/** How long a tool call that comes while the server recovers is held before it is refused. */
const holdCallsMs = 15_000;

/** Wires everything by hand: the one place that knows every concrete thing. */
export async function createApp(parts: AppParts): Promise<App> {
  const { clock, log, store, agents, dataDir, redaction, configDirectory } = parts;
  const node = 'local';
  const ids = new Ids(clock.now, random);
  const signer = new TokenSigner(parts.secret);
  const report = (what: string, data: Readonly<Record<string, unknown>>): void => log.warn(data, what);
  const owner = new Owner('server', (name, error) => log.error({ err: error, owner: name }, 'work failed'));
  const transcript = createTranscript(store.records, clock, (error) =>
    log.error({ err: error }, 'transcript'),
  );
  const terminals = new TmuxTerminals({ clock, dataDir, order: parts.terminalOrder, report });
  const listings = new Map<SessionId, number>();
  const sessions = new Sessions({
    store,
    clock,
    ids,
    node,
    limits: parts.limits,
    report,
    transcript,
    agent: (name) => agents.find(name),
    tools: (sessionId) => ({
      url: `${parts.origin()}/mcp`,
      token: signer.sign({ kind: 'session', sessionId }),
      listings: () => listings.get(sessionId) ?? 0,
    }),
    directory: (id) => directoryIn(dataDir, 'sessions', id),
    prepare: (agent) =>
      prepareLaunches(agent, { clock, redaction, directory: configDirectory, env: process.env }),
    redact: (text) => redaction.text(text),
    isWatched: (sessionId) => terminals.isWatched(sessionId),
    isStopping: () => parts.state() === 'stopping',
  });
  const commits = new Commits(store, clock);
  const commands = createCommands({
    driver: scriptDriver({ clock }),
    clock,
    directory: (id) => directoryIn(dataDir, 'commands', id),
    tools: (executionId) => ({
      url: `${parts.origin()}/mcp`,
      token: signer.sign({ kind: 'execution', executionId }),
    }),
  });
  const runRecords = diskRunRecords({
    directory: join(dataDir, 'records'),
    records: store.records,
    flush: () => transcript.flush(),
    report,
  });
  const sources = textSources(agents, process.env, (id) => runRecords.directory(id));
  const texts = messageTexts(store, sources);
  const workspaces = new LocalWorkspaces({ clock, dataDir });
  const tells = (name: string): UsageTold | undefined => {
    const found = agents.find(name);
    return found && usageTold(found);
  };
  const { workflows } = parts;
  const runs: RunsContext = {
    ...{ store, clock, ids, sessions, commits, commands, texts, workspaces, owner, report },
    steps: {
      ...{ node, tells, isDirectory, mostScripts },
      texts: stepTexts(store, sources),
      workflows,
      data: stepData,
      records: runRecords,
    },
  };
  const stopping = new Stopping(runs);
  const steps = new Steps(runs);
  const notifier = createNotifier({ ...parts, random });
  const launcher = new Launcher({ store, clock, ids, node, sessions, tells });
  const activity = createActivity(store, clock);
  const context: ApplicationContext = {
    clock,
    ids,
    node,
    store,
    views: store.views,
    records: store.records,
    eventLog: store.events,
    sessions,
    launcher,
    workflowLaunches: new WorkflowLaunches({ ...parts, ...{ launcher, workflows, tells } }),
    reviews: parts.reviews,
    stopping,
    commits,
    signer,
    agents,
    workspaces,
    workflows,
    recordPlaces: runRecords,
    stepTexts: runs.steps.texts,
    limits: parts.limits,
    activity,
    defaultCwd: process.cwd(),
  };
  const { notify } = parts;
  const scheduling = createScheduling({ ...context, store, commands, texts: sources, owner, report, notify });
  const stopClosing = closeTerminals(context, terminals);
  const feed = await createFeed(store, store.events);
  const wakeups = localWakeups({ store, clock, report });
  const toolCalls = createToolCalls(context, scheduling.ports);
  const endpoint = createToolEndpoint(
    { toolCalls, untilOpen: () => sessions.untilOpen(holdCallsMs) },
    {
      log,
      version: parts.version,
      onListed: (id) => void listings.set(id, (listings.get(id) ?? 0) + 1),
    },
  );
  let stopWatching = (): void => undefined;
  return {
    ports: {
      queries: createQueries(context),
      ids: createIdResolution(context),
      executions: createExecutionCommands(context),
      notices: createNoticeCommands(context),
      sessions: createSessionCommands(context),
      runs: createRunCommands(context),
      standingRuns: createStandingRunCommands(context),
      ...scheduling.ports,
      workflows: createWorkflowCommands(context),
      workflowQueries: createWorkflowQueries(context),
      waiting: createWaiting(context),
      feed,
      ...createCallers({ ...context, audit: (what, data) => log.info(data, what) }),
      idempotency: createIdempotency(store.records, ids, clock),
      notifications: createNotifications(context, notifier),
      agents: agentsPorts(agents, clock),
      health: healthPorts(parts, store),
      settings: parts.settings,
      mcp: endpoint,
      terminals: createTerminals(context, terminals),
    },
    async start() {
      await sessions.recover((await store.recovery.liveSessions()).map((session) => session.id));
      // A terminal whose agent died with nobody watching shows nothing any more.
      const living = (await store.recovery.liveSessions()).filter((session) => session.state === 'live');
      await terminals.reap(new Set(living.map((session) => session.id)));
      const isKnown = async (id: RunId): Promise<boolean> =>
        (await store.read(() => ask('run', id))) !== undefined;
      for (const kept of await workspaces.reconcile(isKnown)) report('workspace.kept', { ...kept });
      // The limits may be others than those by which somebody was held back.
      await sessions.callNext();
      await scheduling.start();
      const notify = (wake: NotificationWake): Promise<void> => notifier.handle(wake);
      await wakeups.start(wakeHandler(runs, { stopping, steps }, scheduling.handle, notify));
      await steps.goOn(await store.recovery.openScripts());
      const left = { store, commands, directory: join(dataDir, 'commands') };
      owner.start(async (signal) => void (await clearLeftCommands({ ...left, signal })));
      stopWatching = watchDisk({ store, clock, dataDir, lowBytes: parts.diskLowBytes, report });
    },
    async stop(options) {
      await endpoint.close();
      stopWatching();
      notifier.stop();
      await scheduling.stop();
      await wakeups.stop();
      await owner.stop();
      terminals.detach();
      stopClosing();
      if (options.agents) {
        await sessions.endAll('the server was stopped with its agents');
        await terminals.reap(new Set());
      }
      await sessions.detach();
      await transcript.flush();
      commits.stop();
      feed.stop();
      activity.stop();
    },
  };
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function random(): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32;
}

function directoryIn(dataDir: string, kind: string, id: SessionId | string): string {
  const directory = join(dataDir, kind, id);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}
