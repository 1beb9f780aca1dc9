import type { PermissionOption, RequestPermissionOutcome } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { AgentProfile } from '../port.ts';

/** A `session/request_permission`, read. */
export interface Question {
  readonly text: string;
  readonly options: readonly Pick<PermissionOption, 'optionId' | 'name' | 'kind'>[];
}

const kinds = [
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
] as const satisfies PermissionOption['kind'][];

const request = z.object({
  sessionId: z.string(),
  toolCall: z.object({ title: z.string().nullish() }),
  options: z.array(z.object({ optionId: z.string(), name: z.string(), kind: z.enum(kinds) })),
});

/** Reads the params; undefined when they are not a permission request of this session. */
export function readQuestion(params: unknown, sessionId: string): Question | undefined {
  const parsed = request.safeParse(params);
  if (!parsed.success || parsed.data.sessionId !== sessionId) return undefined;
  return {
    text: parsed.data.toolCall.title ?? 'The agent asks for a permission.',
    options: parsed.data.options,
  };
}

/** Says that nobody decided. ACP knows no other way of not choosing. */
export const undecided: RequestPermissionOutcome = { outcome: 'cancelled' };

/**
 * What the profile says when nobody watches; undefined when a person is to be asked. Only answers for this once are
 * given: an `always` would outlive the run that it was given for.
 */
export function decide(
  policy: NonNullable<AgentProfile['onQuestion']>,
  question: Question,
): RequestPermissionOutcome | undefined {
  // A question that can only be answered for ever is answered by nobody.
  if (policy === 'ask') return offered(question).length > 0 ? undefined : undecided;
  const wanted = policy === 'allow' ? 'allow_once' : 'reject_once';
  const option = question.options.find(({ kind }) => kind === wanted);
  return option ? { outcome: 'selected', optionId: option.optionId } : undecided;
}

/**
 * The choices as a person reads them: names, and ids where two names are the same. What would be decided for ever is not
 * offered: it would outlive the question, some agents keep it for all their conversations, and nobody would find it again.
 */
export function choicesOf(question: Question): string[] {
  const once = offered(question);
  const names = once.map(({ name }) => name);
  return once.map(({ name, optionId }) =>
    names.indexOf(name) === names.lastIndexOf(name) ? name : optionId,
  );
}

/** The outcome for a choice, given by name or by id; undefined when it is none of those offered. */
export function choose(question: Question, choice: string): RequestPermissionOutcome | undefined {
  const index = choicesOf(question).indexOf(choice);
  const once = offered(question);
  const option = once[index] ?? once.find(({ optionId }) => optionId === choice);
  return option && { outcome: 'selected', optionId: option.optionId };
}

export function offered({ options }: Question): Question['options'] {
  return options.filter(({ kind }) => kind === 'allow_once' || kind === 'reject_once');
}
