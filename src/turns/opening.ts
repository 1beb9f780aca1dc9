import type { TurnId } from '../base/ids.ts';
import type { Conversation, Driver, DriverEvent, Opened } from '../drivers/port.ts';
import { sessionOpened } from '../ledger/agent-process.ts';
import { ask } from '../ledger/questions.ts';
import type { Session } from '../ledger/session.ts';
import type { TurnsContext } from './ports.ts';
import { resolveAfterOpen } from './recovery.ts';

/** A conversation that is open in this process. */
export interface OpenSession {
  readonly conversation: Conversation;
  readonly driver: Driver;
}

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

export interface Opening {
  readonly adoptOnly: boolean;
  /** The turn whose text this process knows to be unsent. */
  readonly own: TurnId | undefined;
  /** Takes every event that comes after what was replayed. */
  receive(event: DriverEvent): void;
  /** Tells the ledger one event now. */
  handle(event: DriverEvent, open: OpenSession): Promise<void>;
}

/**
 * Opens the conversation of a session and settles, from evidence, whatever an earlier process left open. Events that come
 * meanwhile wait, in order, until the old process is accounted for.
 */
export async function openConversation(
  context: TurnsContext,
  session: Session,
  opening: Opening,
): Promise<OpenedSession> {
  const agent = context.agent(session.agent);
  if (!agent) {
    const message = `No agent "${session.agent}" is configured.`;
    return { ok: false, code: 'AGENT_UNAVAILABLE', message };
  }
  let early: DriverEvent[] | undefined = [];
  const emit = (event: DriverEvent): void => {
    if (early) early.push(event);
    else opening.receive(event);
  };
  const steers = await context.store.read(() => ask('openSteers', session.id));
  const tools = context.tools(session.id);
  const opened = await agent.driver.open({
    sessionId: session.id,
    profile: agent.profile,
    cwd: session.cwd,
    directory: context.directory(session.id),
    position: session.position,
    unresolved: [...(session.laneTurn ? [session.laneTurn] : []), ...steers.map((steer) => steer.id)],
    adoptOnly: opening.adoptOnly,
    emit,
    ...(tools ? { tools } : {}),
    ...(session.nativeId === null ? {} : { nativeId: session.nativeId }),
  });
  if (!opened.ok) return opened;
  const { conversation } = opened;
  const open = { conversation, driver: agent.driver };
  let isDead = false;
  const drain = async (): Promise<void> => {
    for (let event = early?.shift(); event; event = early?.shift()) {
      isDead ||= event.type === 'exited';
      await opening.handle(event, open);
    }
    early = undefined;
  };
  const { pending } = await resolveAfterOpen(context, session, opened, { drain, own: opening.own });
  if (!isDead) {
    const { store, clock, node } = context;
    const { nativeId } = conversation;
    await store.decide(() => sessionOpened({ now: clock.now(), sessionId: session.id, nativeId, node }));
  }
  return { ok: true, open, pending, isDead };
}
