import type { TurnId } from '../base/ids.ts';
import type { AgentProfile, Driver, DriverEvent, Opened, OpenRequest } from '../drivers/port.ts';
import { processGone, sessionOpened } from '../ledger/agent-process.ts';
import { ask } from '../ledger/questions.ts';
import type { Session } from '../ledger/session.ts';
import { idleMsOf } from './idle.ts';
import type { OpenSession } from './open-session.ts';
import { observe } from './observe.ts';
import type { TurnsContext } from './ports.ts';
import { resolveAfterOpen } from './recovery.ts';
import { redacted } from './redacted.ts';
import { unhonoured, whyUnusable } from './unhonoured.ts';

/** Why a conversation could not be opened. */
export type NotOpened = Pick<Extract<Opened, { ok: false }>, 'code' | 'message'>;

/** `pending`: the turn whose text must not be sent again. `isDead`: its process died before it was of any use. */
export type OpenedSession =
  | {
      readonly ok: true;
      readonly open: OpenSession;
      readonly pending: TurnId | undefined;
      readonly isDead: boolean;
    }
  | (NotOpened & { readonly ok: false });

/** What the opening of one conversation needs of its session. */
export interface Opening {
  readonly adoptOnly: boolean;
  /** The turn whose text this process knows to be unsent. */
  readonly own: TurnId | undefined;
  /** Aborted when nobody needs it any more. */
  readonly signal: AbortSignal;
  /** Takes every event that comes after what was replayed. */
  receive(event: DriverEvent, open: OpenSession): void;
  /** Tells the ledger one event now. */
  handle(event: DriverEvent, open: OpenSession): Promise<void>;
}

/**
 * Opens the conversation of a session and settles, from evidence, whatever an earlier process left open. Events that come
 * meanwhile wait, in order, until the old process is accounted for.
 */
export async function openConversation(
  context: TurnsContext,
  known: Session,
  opening: Opening,
): Promise<OpenedSession> {
  const agent = context.agent(known.agent);
  if (!agent) {
    const message = `No agent "${known.agent}" is configured.`;
    return { ok: false, code: 'AGENT_UNAVAILABLE', message };
  }
  const { driver } = agent;
  const early = new EarlyEvents();
  let open: OpenSession | undefined;
  let isSettled = false;
  const emit = (event: DriverEvent): void => {
    const told = redacted(event, context.redact);
    if (!isSettled) early.keep(told);
    else if (open) opening.receive(told, open);
  };
  const unusable = whyUnusable(agent.profile, driver);
  if (unusable !== undefined) return { ok: false, code: 'AGENT_UNAVAILABLE', message: unusable };
  const prepareLaunch = await context.prepare(agent);
  const request = {
    ...(await requestFor(context, known, agent.profile, emit)),
    signal: opening.signal,
    ...(prepareLaunch ? { prepareLaunch } : {}),
  };
  const { session, opened } = await openDriver(context, known, driver, request, opening);
  if (!opened.ok) {
    // What the process before had said is not said again: a turn that it ended well has ended well.
    await early.drain(
      (event) => tellOld(context, known, event, agent),
      () => false,
    );
    return { ...opened, message: context.redact(opened.message) };
  }
  for (const what of unhonoured(agent.profile, driver))
    context.report('agent.unhonoured', { sessionId: known.id, agent: known.agent, what });
  const current: OpenSession = { conversation: opened.conversation, driver, profile: agent.profile };
  open = current;
  const isAdopted = opened.how === 'adopted';
  if (!isAdopted) early.markReplayed();
  const tell = (event: DriverEvent): Promise<void> => opening.handle(event, current);
  const drain = (): Promise<void> => early.drain(tell, () => false);
  const { pending } = await resolveAfterOpen(context, session, opened, {
    drainOld: () => early.drain(tell, () => !isAdopted && early.isReplayTold),
    drain,
    own: opening.own,
  });
  await drain();
  isSettled = true;
  if (!early.isDead) await tellOpened(context, session, current);
  return { ok: true, open: current, pending, isDead: early.isDead };
}

/** An event of a process that is gone, without a conversation that could follow it. */
async function tellOld(
  context: TurnsContext,
  { id }: Session,
  event: DriverEvent,
  { driver, profile }: { readonly driver: Driver; readonly profile: AgentProfile },
): Promise<void> {
  if (event.type === 'exited') return;
  await observe(context, id, event, { driver, profile, capabilities: driver.capabilities });
}

/** What is said before the old process is accounted for: kept, and told in order. */
class EarlyEvents {
  readonly #kept: DriverEvent[] = [];
  /** How many of those that are kept were said by the process before. */
  #replayed = 0;
  #isDead = false;

  /** Whether the process that was opened has died already. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** Whether all was told that the process before had said. */
  get isReplayTold(): boolean {
    return this.#replayed <= 0;
  }

  keep(event: DriverEvent): void {
    this.#kept.push(event);
  }

  /** What was kept so far is the old process's: its death is settled by evidence, and is not the new one's. */
  markReplayed(): void {
    this.#replayed = this.#kept.length;
  }

  async drain(tell: (event: DriverEvent) => Promise<void>, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const event = this.#kept.shift();
      if (!event) return;
      const isExit = event.type === 'exited';
      if (this.#replayed-- > 0 && isExit) continue;
      this.#isDead ||= isExit;
      await tell(event);
    }
  }
}

/** Adopts the process that may live; where there is none, the ledger hears of it before a new one is started. */
async function openDriver(
  { store, clock }: TurnsContext,
  known: Session,
  driver: Driver,
  request: OpenRequest,
  { adoptOnly, own }: Opening,
): Promise<{ readonly session: Session; readonly opened: Opened }> {
  const leftLane = known.laneTurn !== null && known.laneTurn !== own;
  const mayLive = known.state === 'live' || leftLane || known.wakeTurn !== null;
  const opened = await driver.open({ ...request, adoptOnly: adoptOnly || mayLive });
  if (opened.ok || opened.code !== 'NOT_RUNNING' || adoptOnly) return { session: known, opened };
  const gone = await store.decide(() => processGone({ now: clock.now(), sessionId: known.id }));
  const session = (gone.ok ? gone.value : undefined) ?? known;
  return { session, opened: await driver.open(request) };
}

async function tellOpened(
  { store, clock, node }: TurnsContext,
  { id: sessionId }: Session,
  open: OpenSession,
): Promise<void> {
  const { nativeId } = open.conversation;
  const afterMs = idleMsOf(open);
  const now = clock.now();
  const idle = afterMs === undefined ? {} : { idleAt: now + afterMs };
  await store.decide(() => sessionOpened({ now, sessionId, nativeId, node, ...idle }));
}

async function requestFor(
  context: TurnsContext,
  session: Session,
  profile: AgentProfile,
  emit: OpenRequest['emit'],
): Promise<OpenRequest> {
  const steers = await context.store.read(() => ask('openSteers', session.id));
  const tools = context.tools(session.id);
  return {
    sessionId: session.id,
    profile,
    cwd: session.cwd,
    directory: context.directory(session.id),
    position: session.position,
    unresolved: [...(session.laneTurn ? [session.laneTurn] : []), ...steers.map((steer) => steer.id)],
    adoptOnly: false,
    emit,
    ...(tools ? { tools } : {}),
    ...(session.nativeId === null ? {} : { nativeId: session.nativeId }),
  };
}
