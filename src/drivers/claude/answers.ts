import { readChoice, refusal } from './read-question.ts';
import type { Question } from './state.ts';

const nobody =
  'Nobody is there to answer. Go on without it if you can; else end your turn and say what you would have needed.';

/** What goes to the agent as the answer to one of its questions. */
export type Reply =
  | { readonly behavior: 'allow'; readonly updatedInput: unknown }
  | { readonly behavior: 'deny'; readonly message: string };

/**
 * What the profile says when nobody is to be asked; undefined when a person is. A question with choices of its own has no
 * yes that could be given for everybody. A question that no turn of ours waits for reaches nobody either.
 */
export function decide(policy: 'deny' | 'allow' | 'ask', question: Question): Reply | undefined {
  if (policy === 'ask' && !question.isOrphan && question.choices.length > 0) return undefined;
  const isPermission = question.request['tool_name'] !== 'AskUserQuestion' && question.choices.length > 0;
  if (policy === 'allow' && isPermission) return allow(question);
  return { behavior: 'deny', message: nobody };
}

/** What a person's choice comes to; undefined when it is none of the choices. */
export function choose(question: Question, choice: string): Reply | undefined {
  if (!question.choices.includes(choice)) return undefined;
  if (choice === refusal) return { behavior: 'deny', message: 'The person in charge refused this.' };
  const asked = readChoice(question.request);
  if (!asked) return allow(question);
  const input = question.request['input'] as Readonly<Record<string, unknown>>;
  return { behavior: 'allow', updatedInput: { ...input, answers: { [asked.text]: choice } } };
}

/** The line that carries a reply. A request that is none of permission is refused as such. */
export function replyLine(requestId: string, question: Question, reply: Reply): string {
  const isPermission = question.request['subtype'] === 'can_use_tool';
  const response = isPermission
    ? { subtype: 'success', request_id: requestId, response: reply }
    : { subtype: 'error', request_id: requestId, error: 'not offered by this client' };
  return JSON.stringify({ type: 'control_response', response });
}

function allow(question: Question): Reply {
  return { behavior: 'allow', updatedInput: question.request['input'] };
}
