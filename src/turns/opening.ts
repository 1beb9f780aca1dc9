import type { TurnId } from '../base/ids.ts';
import type {
  AgentProfile,
  Conversation,
  Driver,
  DriverEvent,
  Opened,
  OpenRequest,
} from '../drivers/port.ts';
import { processGone, sessionOpened } from '../ledger/agent-process.ts';
import { ask } from '../ledger/questions.ts';
import type { Session } from '../ledger/session.ts';
import type { TurnsContext } from './ports.ts';
import { resolveAfterOpen } from './recovery.ts';

/** A conversation that is open in this process. */
export interface OpenSession {
  readonly conversation: Conversation;
  readonly driver: Driver;
}

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
  let early: DriverEvent[] | undefined = [];
  let open: OpenSession | undefined;
  const emit = (event: DriverEvent): void => {
    if (early) early.push(event);
    else if (open) opening.receive(event, open);
  };
  const request = { ...(await requestFor(context, known, agent.profile, emit)), signal: opening.signal };
  const leftLane = known.laneTurn !== null && known.laneTurn !== opening.own;
  const mayLive = known.state === 'live' || leftLane || known.wakeTurn !== null;
  let session = known;
  let opened = await agent.driver.open({ ...request, adoptOnly: opening.adoptOnly || mayLive });
  if (!opened.ok && opened.code === 'NOT_RUNNING' && !opening.adoptOnly) {
    const { store, clock } = context;
    const gone = await store.decide(() => processGone({ now: clock.now(), sessionId: known.id }));
    session = (gone.ok ? gone.value : undefined) ?? known;
    opened = await agent.driver.open(request);
  }
  if (!opened.ok) return opened;
  const { conversation } = opened;
  const current = { conversation, driver: agent.driver };
  open = current;
  // What was told before the new process was there is the old one's: its death is settled below, and is not the new one's.
  let replayed = opened.how === 'adopted' ? 0 : early.length;
  let isDead = false;
  const drain = async (isOver: () => boolean): Promise<void> => {
    for (
      let event = isOver() ? undefined : early?.shift();
      event;
      event = isOver() ? undefined : early?.shift()
    ) {
      const isExit = event.type === 'exited';
      if (replayed-- > 0 && isExit) continue;
      isDead ||= isExit;
      await opening.handle(event, open);
    }
  };
  const { how } = opened;
  const { pending } = await resolveAfterOpen(context, session, opened, {
    drainOld: () => drain(() => how !== 'adopted' && replayed <= 0),
    drain: () => drain(() => false),
    own: opening.own,
  });
  await drain(() => false);
  early = undefined;
  if (!isDead) {
    const { store, clock, node } = context;
    const { nativeId } = conversation;
    await store.decide(() => sessionOpened({ now: clock.now(), sessionId: session.id, nativeId, node }));
  }
  return { ok: true, open, pending, isDead };
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
