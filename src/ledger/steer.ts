import type { FreshIds, SessionId, SteerId } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution } from './execution.ts';
import { isSettled } from './execution.ts';
import { batchText } from './batch-text.ts';
import { nextBatch } from './lane.ts';
import type { Notice } from './notice.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Session } from './session.ts';
import { refuseSteer } from './turn-end.ts';
import type { Steer, Turn } from './turn.ts';
import { steerTransitions } from './turn.ts';

/** Something is looked for that may be put into the running turn of a session. */
export interface ClaimSteer {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly fresh: FreshIds;
}

/**
 * Claims a text for the running turn of a session whose driver can prove a steer: results that are owed to a root of
 * that turn, else the message of a person who asked for it. One at a time. Undefined when there is nothing to steer.
 */
export function* claimSteer(command: ClaimSteer): Rule<Steer | undefined> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  const turn = session ? yield* steerableTurn(session) : undefined;
  if (!session || !turn) return draft.done<Steer | undefined>(undefined);
  if ((yield* ask('openSteers', session.id)).length > 0) return draft.done<Steer | undefined>(undefined);
  const id = command.fresh.at('steer', 0);
  const claimed =
    (yield* claimNotices(draft, session, turn, id)) ?? (yield* claimMessage(draft, session, turn, id));
  if (claimed) draft.add({ do: 'insertSteer', row: claimed });
  return draft.done<Steer | undefined>(claimed);
}

/** Only the turn of the lane, seen to run, and neither waiting nor overtaken by a wake. */
function* steerableTurn(session: Session): Asking<Turn | undefined> {
  if (session.state === 'stopped' || session.wakeTurn !== null || session.laneTurn === null) return undefined;
  const turn = yield* ask('turn', session.laneTurn);
  if (turn?.state !== 'running') return undefined;
  // A turn of which all is cancelled is about to be interrupted, and what joins it with it.
  const owners = yield* ask('owners', turn.id);
  return owners.some((owner) => !isSettled(owner.state) && !owner.cancelRequested) ? turn : undefined;
}

function* claimNotices(draft: Draft, session: Session, turn: Turn, id: SteerId): Asking<Steer | undefined> {
  const batch = yield* nextBatch(draft, session);
  if (!batch) return undefined;
  const owners = yield* ask('owners', turn.id);
  if (!owners.some((owner) => !isSettled(owner.state) && owner.rootId === batch.parent.rootId))
    return undefined;
  const text = yield* batchText(batch);
  for (const notice of batch.notices) claim(draft, notice, id);
  return newSteer(draft, session, turn, id, text, null);
}

function claim(draft: Draft, notice: Notice, steerId: SteerId): void {
  draft.notice(notice, 'claim', { steerId, epoch: notice.epoch + 1 });
}

function* claimMessage(draft: Draft, session: Session, turn: Turn, id: SteerId): Asking<Steer | undefined> {
  for (const input of yield* ask('inputs', session.id)) {
    if (!input.wantsSteer || input.steerId !== null) continue;
    draft.add({ do: 'patchInput', id: input.executionId, set: { steerId: id } });
    return newSteer(draft, session, turn, id, input.text, input.executionId);
  }
  return undefined;
}

function newSteer(
  draft: Draft,
  session: Session,
  turn: Turn,
  id: SteerId,
  text: string,
  messageId: Execution['id'] | null,
): Steer {
  const { now } = draft;
  return {
    id,
    sessionId: session.id,
    turnId: turn.id,
    messageId,
    text,
    state: 'claimed',
    createdAt: now,
    endedAt: null,
  };
}

/** What became of a claimed steer, short of being taken (which is `agentTook`). */
export interface ResolveSteer {
  readonly now: number;
  readonly steerId: SteerId;
  /** `written`: accepted, fate open. `refused`, `withdrawn`: provably never to be taken up. */
  readonly what: 'written' | 'refused' | 'withdrawn';
}

/**
 * Records it. Negative proof gives the notices back; anything that comes after the end of a steer is ignored. False for
 * `written`: the text is not to be sent.
 */
export function* resolveSteer(command: ResolveSteer): Rule<boolean> {
  const draft = new Draft(command.now);
  const steer = yield* ask('steer', command.steerId);
  const session = steer ? yield* ask('session', steer.sessionId) : undefined;
  if (!steer || !session) return draft.done(false);
  const input = command.what === 'written' ? 'write' : command.what === 'refused' ? 'refuse' : 'withdraw';
  if (!steerTransitions[steer.state][input]) return draft.done(false);
  if (command.what === 'written') {
    // What was dropped since it was claimed must not reach the agent, nor a turn that is being stopped: nothing is written.
    const turn = yield* steerableTurn(session);
    if (turn?.id !== steer.turnId || !(yield* isWanted(steer))) {
      yield* refuseSteer(draft, session, steer, 'withdrawn');
      return draft.done(false);
    }
    draft.add({ do: 'patchSteer', id: steer.id, set: { state: 'written' } });
  } else yield* refuseSteer(draft, session, steer, command.what);
  return draft.done(true);
}

/** Whether everything that the text was claimed for still waits for it. */
function* isWanted(steer: Steer): Asking<boolean> {
  if (steer.messageId !== null) return (yield* ask('input', steer.messageId))?.steerId === steer.id;
  return (yield* ask('noticesOfSteer', steer.id)).every((notice) => notice.state === 'claimed');
}
