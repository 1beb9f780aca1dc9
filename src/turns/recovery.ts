import type { SteerId, TurnId } from '../base/ids.ts';
import type { Conversation, Evidence, Opened } from '../drivers/port.ts';
import { ask } from '../ledger/questions.ts';
import { rules } from '../ledger/rules.ts';
import type { Session } from '../ledger/session.ts';
import type { Steer } from '../ledger/turn.ts';
import { buryAgent } from './death.ts';
import { resolveSteers, tellConsumed } from './evidence.ts';
import type { TurnsContext } from './ports.ts';

/** What recovery needs of the session it recovers. */
export interface Replaying {
  /** Tells the ledger what the process said to which the turns so far belong: of a new process nothing yet. */
  drainOld(): Promise<void>;
  /** Tells the ledger everything that was said. */
  drain(): Promise<void>;
  /** The turn whose text this process knows to be unsent. */
  readonly own: TurnId | undefined;
}

/** The turn whose text must not be sent again: it is in the agent's queue, or nobody can say. */
export interface Resolved {
  readonly pending: TurnId | undefined;
}

/**
 * Settles, from the agent's own record and queue, what an earlier process left open, before anything new is sent. The
 * order matters: replayed events, then the death of the old process if it is dead, then the texts whose fate is open.
 */
export async function resolveAfterOpen(
  context: TurnsContext,
  session: Session,
  opened: Extract<Opened, { ok: true }>,
  replaying: Replaying,
): Promise<Resolved> {
  const { conversation, how } = opened;
  const isOurs = session.laneTurn === null || session.laneTurn === replaying.own;
  // A process that was started, and of which nobody was told, is adopted without being the one that did the work.
  const given = await context.store.read(() => ask('openSteers', session.id));
  const isAnother = how === 'adopted' && (await isOfEarlier(context, session, given));
  if (!isAnother) await replaying.drainOld();
  const isDead = how !== 'adopted' || isAnother;
  const steers = await context.store.read(() => ask('openSteers', session.id));
  const hasLeft = session.state === 'live' || !isOurs || session.wakeTurn !== null || steers.length > 0;
  if (isDead && hasLeft) {
    // The old process is dead: whatever it took up is in the record that the new one reads.
    const reason = 'its process died while nobody watched';
    const death = { reason, unsent: replaying.own, hasSuccessor: true };
    await buryAgent(context, session.id, conversation, death);
  }
  await replaying.drain();
  if (isDead) return { pending: undefined };
  const asking = { evidence: (id: TurnId | SteerId) => evidenceAfterNews(conversation, replaying, id) };
  const pending = isOurs ? undefined : await resolveStart(context, session, asking);
  await resolveSteers(context, session.id, asking, false);
  return { pending };
}

/**
 * What the agent's record shows, once all that it told of before that was heard: what is told of later than it happened
 * would be taken for something new.
 */
async function evidenceAfterNews(
  conversation: Conversation,
  replaying: Replaying,
  id: TurnId | SteerId,
): Promise<Evidence> {
  const evidence = await conversation.evidence(id);
  await replaying.drain();
  return evidence;
}

/** Whether the turns that the ledger knows of, or those that its steered texts were for, ran in an earlier process. */
async function isOfEarlier(
  { store }: TurnsContext,
  session: Session,
  steers: readonly Steer[],
): Promise<boolean> {
  for (const id of [session.laneTurn, session.wakeTurn, ...steers.map((steer) => steer.turnId)]) {
    const turn = id === null ? undefined : await store.read(() => ask('turn', id));
    if (turn && turn.epoch !== session.epoch) return true;
  }
  return false;
}

/** A text that was on its way to begin a turn: consumed, it began; absent, it is sent again; else it is waited for. */
async function resolveStart(
  context: TurnsContext,
  session: Session,
  conversation: Pick<Conversation, 'evidence'>,
): Promise<TurnId | undefined> {
  const { store } = context;
  const current = await store.read(() => ask('session', session.id));
  const id = current?.laneTurn;
  const turn = id ? await store.read(() => ask('turn', id)) : undefined;
  if (turn?.state !== 'starting') return undefined;
  const evidence = await conversation.evidence(turn.id);
  // Meanwhile it may have been heard what became of it.
  if ((await store.read(() => ask('turn', turn.id)))?.state !== 'starting') return undefined;
  if (evidence.state === 'absent') return undefined;
  if (evidence.state !== 'consumed') return rules.queueEvidence ? turn.id : undefined;
  await tellConsumed(context, session.id, turn.id, evidence.nativeTurnId ?? `seen:${turn.id}`);
  return undefined;
}
