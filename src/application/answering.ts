import type { Answer, Call } from '../api/ports.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import type { AnswerBody } from '../contract/requests.ts';
import type { Execution, Waiting } from '../ledger/execution.ts';
import { isQuestion, waitsForLimit } from '../ledger/execution.ts';
import { answerStep } from '../ledger/graph-walk.ts';
import { decideLimit } from '../ledger/limit.ts';
import { ask } from '../ledger/questions.ts';
import { actorOf, nothing } from './caller.ts';
import type { ApplicationContext } from './context.ts';

const limitChoices = ['resume', 'giveUp'] as const;

/** Something of a tree that a person can answer. */
type Asking = Execution & { readonly waiting: Waiting };

/**
 * A person's answer to what an execution waits for: a choice of its question, or a text where none are offered; `resume`
 * or `giveUp` for a usage limit or a sign-in. Given for something above it, it is for the only one below that asks. Answers
 * what it was for.
 */
export async function answerExecution(
  context: ApplicationContext,
  id: ExecutionId,
  body: AnswerBody,
  call: Call,
): Promise<Answer<ExecutionId>> {
  const given = body.choice ?? body.text ?? '';
  const limited = await limitedSession(context, id);
  if (limited !== undefined) return of(id, await decide(context, limited, given, call));
  const found = await findAsking(context, id);
  if (!found.ok) return found;
  const { id: asking, runsIn, waiting } = found.value;
  if (isQuestion(found.value)) return of(asking, await answerQuestion(context, found.value, body, given));
  if (runsIn === null) return notAsked(id);
  if (waitsForLimit(waiting)) return of(asking, await decide(context, runsIn, given, call));
  const { questionId, choices = [] } = waiting;
  if (questionId === undefined) return notAsked(id);
  if (body.questionId !== undefined && body.questionId !== questionId)
    return otherQuestion(found.value, waiting);
  if (choices.length > 0 && !choices.includes(given)) return notOffered(given, choices);
  if (await context.sessions.of(runsIn).answer(questionId, given)) return { ok: true, value: asking };
  const message = `The question of ${asking} is not open any more.`;
  return { ok: false, code: 'ILLEGAL_STATE', message, data: { state: found.value.state } };
}

function of(id: ExecutionId, done: Answer<void>): Answer<ExecutionId> {
  return done.ok ? { ok: true, value: id } : done;
}

/** What a step of a workflow asks is answered in the ledger: no agent waits for it. */
async function answerQuestion(
  { store, clock, ids }: ApplicationContext,
  row: Asking,
  body: AnswerBody,
  answer: string,
): Promise<Answer<void>> {
  if (body.questionId !== undefined && body.questionId !== row.id) return otherQuestion(row, row.waiting);
  const fresh = new FreshIds(ids);
  return nothing(await store.decide(() => answerStep({ now: clock.now(), id: row.id, answer, fresh })));
}

async function decide(
  { store, clock, ids }: ApplicationContext,
  sessionId: SessionId,
  given: string,
  { caller }: Call,
): Promise<Answer<void>> {
  const action = limitChoices.find((choice) => choice === given);
  if (action === undefined) return notOffered(given, limitChoices);
  const command = { now: clock.now(), sessionId, action, actor: actorOf(caller), fresh: new FreshIds(ids) };
  return nothing(await store.decide(() => decideLimit(command)));
}

/** The session with a limit that a result of this execution, or of something below it, is owed to. */
async function limitedSession(
  { store }: ApplicationContext,
  id: ExecutionId,
): Promise<SessionId | undefined> {
  const row = await store.read(() => ask('execution', id));
  for (const notice of row ? await store.read(() => ask('limitedNotices', row.rootId)) : []) {
    const of = await store.read(() => ask('execution', notice.executionId));
    if (of && (of.id === id || (await isBelow(store, of, id)))) return notice.sessionId;
  }
  return undefined;
}

async function findAsking({ store }: ApplicationContext, id: ExecutionId): Promise<Answer<Asking>> {
  const row = await store.read(() => ask('execution', id));
  if (!row) return { ok: false, code: 'NOT_FOUND', message: `No execution ${id}.`, data: { id } };
  if (isAsking(row)) return { ok: true, value: row };
  const asking: Asking[] = [];
  for (const below of await store.read(() => ask('waitingIn', row.rootId)))
    if (isAsking(below) && (await isBelow(store, below, id))) asking.push(below);
  const [only, ...others] = asking;
  if (!only) return notAsked(id);
  if (others.length === 0) return { ok: true, value: only };
  const ids = asking.map((one) => one.id);
  const message = `${ids.length} things below ${id} wait for an answer; answer one of ${ids.join(', ')}.`;
  return { ok: false, code: 'ILLEGAL_STATE', message, data: { state: row.state, waiting: ids } };
}

function isAsking(row: Execution): row is Asking {
  return row.waiting !== null && (row.waiting.for === 'input' || waitsForLimit(row.waiting));
}

async function isBelow(
  store: ApplicationContext['store'],
  row: Execution,
  id: ExecutionId,
): Promise<boolean> {
  for (let at: Execution | undefined = row; at; ) {
    const parentId: ExecutionId | null = at.parentId;
    if (parentId === id) return true;
    at = parentId === null ? undefined : await store.read(() => ask('execution', parentId));
  }
  return false;
}

function otherQuestion({ id, state }: Asking, { text }: Waiting): Extract<Answer<void>, { ok: false }> {
  const message = `${id} asks something else now: ${text ?? ''}`;
  return { ok: false, code: 'ILLEGAL_STATE', message, data: { state } };
}

function notAsked(id: ExecutionId): Extract<Answer<void>, { ok: false }> {
  const message = `Nothing waits for an answer at or below ${id}; stemma why ${id} says what it waits for.`;
  return { ok: false, code: 'ILLEGAL_STATE', message, data: { id } };
}

function notOffered(given: string, choices: readonly string[]): Extract<Answer<void>, { ok: false }> {
  const message = `"${given}" is not one of the answers: ${choices.join(', ')}.`;
  return { ok: false, code: 'INVALID_INPUT', message, data: { field: 'choice', choices } };
}
