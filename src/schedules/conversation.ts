import type { SessionId } from '../base/ids.ts';
import { idAs } from '../base/ids.ts';
import type { Draft } from '../ledger/decision.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { SessionRotation } from '../ledger/schedule-definition.ts';
import type { Schedule } from '../ledger/schedule.ts';
import type { Session } from '../ledger/session.ts';
import { newSession } from '../ledger/session.ts';
import { spanText } from './words.ts';

/** The session of a run, and what its first message must say beforehand; or why there is none. */
type Conversation =
  | { readonly sessionId: SessionId; readonly opening?: string }
  | { readonly reason: string };

/** How much of the last answer a new conversation is told, in characters: the end of it, where the summary usually is. */
const carriedLength = 8_000;

/** A new conversation, or the one that the schedule keeps; a kept one that has reached a bound gives way to a new one. */
export function* conversationOf(
  draft: Draft,
  schedule: Schedule,
  occurrence: Occurrence,
  place: { readonly cwd: string; readonly node: string },
): Asking<Conversation> {
  const { session: mode } = schedule.definition;
  if (mode.mode === 'fresh') return { sessionId: open(draft, schedule, occurrence, place) };
  const kept = schedule.sessionId === null ? undefined : yield* ask('session', schedule.sessionId);
  const isSame = kept && kept.agent === schedule.definition.agent && kept.cwd === place.cwd;
  if (isSame && kept.state === 'stopped')
    return { reason: `session: ${kept.id} was stopped; a message to it starts it again` };
  const why = kept && isSame ? yield* whyEnd(draft.now, schedule, kept, mode.rotate) : undefined;
  if (isSame && why === undefined) return { sessionId: kept.id };
  const sessionId = open(draft, schedule, occurrence, place);
  draft.add({ do: 'patchSchedule', id: schedule.id, set: { sessionId } });
  if (!kept || why === undefined) return { sessionId };
  const opening = yield* openingOf(kept, why);
  return opening === undefined ? { sessionId } : { sessionId, opening };
}

function open(
  draft: Draft,
  schedule: Schedule,
  occurrence: Occurrence,
  { cwd, node }: { readonly cwd: string; readonly node: string },
): SessionId {
  const id = idAs('session', occurrence.id);
  const { project, name: title, definition } = schedule;
  const { agent } = definition;
  if (agent === null) throw new Error(`schedule ${schedule.id} names no agent for its conversation`);
  const row = newSession({ id, project, agent, cwd, title, node, createdAt: draft.now });
  draft.add({ do: 'insertSession', row });
  draft.tell({ type: 'session.state', rootId: null, sessionId: id, data: { state: row.state } });
  return id;
}

/** Why a kept conversation gives way to a new one, if so. One that is gone would fail every run from now on. */
function* whyEnd(
  now: number,
  schedule: Schedule,
  kept: Session,
  rotate: SessionRotation | undefined,
): Asking<string | undefined> {
  const last = yield* ask('lastRunOf', schedule.id);
  if (last?.sessionId === kept.id && last.outcomeCode === 'SESSION_GONE')
    return 'its agent does not have it any more';
  return yield* whyRotate(now, kept, rotate);
}

/** Which bound a kept conversation has reached, in words. */
function* whyRotate(
  now: number,
  kept: Session,
  rotate: SessionRotation | undefined,
): Asking<string | undefined> {
  if (rotate === undefined) return undefined;
  const { turns, ageMs, tokens } = rotate;
  const age = now - kept.createdAt;
  if (ageMs !== undefined && age >= ageMs) return `it was ${spanText(age)} old`;
  if (turns === undefined && tokens === undefined) return undefined;
  const had = yield* ask('sessionTotals', kept.id);
  if (turns !== undefined && had.turns >= turns)
    return `it had ${had.turns} turn${had.turns === 1 ? '' : 's'}`;
  if (tokens !== undefined && had.tokens >= tokens) return `it had used ${had.tokens} tokens`;
  return undefined;
}

/** The last answer of the conversation that ends, for the one that begins. Braces in it are no templates. */
function* openingOf(kept: Session, why: string): Asking<string | undefined> {
  const answer = (yield* ask('lastAnswer', kept.id, null))?.trim();
  if (!answer) return undefined;
  const told = answer.length > carriedLength ? `…${answer.slice(-carriedLength)}` : answer;
  return `A conversation before this one was ended, since ${why}. Its last answer was:\n\n${told.replaceAll('{{', '\\{{')}`;
}
