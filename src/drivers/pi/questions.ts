import type { AgentProfile } from '../port.ts';
import type { Question } from './wire.ts';

/** The answer to a dialog, as pi takes it. */
export type Reply = Readonly<Record<string, unknown>>;

/** How a person says yes and no to a `confirm`. */
const yes = 'yes';
const no = 'no';

/** A question as it is shown to a person; without choices any text will do. */
export interface AskedQuestion {
  readonly questionId: string;
  readonly text: string;
  readonly choices?: readonly string[];
}

/** The question as it is shown. */
export function shown(question: Question): AskedQuestion {
  const { id, method, title, message, options } = question;
  const text =
    [title, message].filter((part) => part !== '').join(': ') || 'An extension of pi asks something.';
  if (method === 'confirm') return { questionId: id, text, choices: [yes, no] };
  if (method === 'select') return { questionId: id, text, choices: options };
  return { questionId: id, text };
}

/**
 * What the profile says when nobody watches; undefined when a person is to be asked. Only a `confirm` has a yes: of other
 * dialogs nobody can say which answer allows something, so they are dismissed.
 */
export function decide(
  policy: NonNullable<AgentProfile['onQuestion']>,
  question: Question,
): Reply | undefined {
  if (policy === 'ask') return undefined;
  if (question.method !== 'confirm') return dismissed(question.id);
  return reply(question.id, { confirmed: policy === 'allow' });
}

/** The reply for a person's choice; undefined when this is none of the choices. */
export function choose(question: Question, choice: string): Reply | undefined {
  const { id, method, options } = question;
  if (method === 'confirm') {
    return choice === yes || choice === no ? reply(id, { confirmed: choice === yes }) : undefined;
  }
  if (method === 'select' && !options.includes(choice)) return undefined;
  return reply(id, { value: choice });
}

/** Nobody decided. */
export function dismissed(id: string): Reply {
  return reply(id, { cancelled: true });
}

function reply(id: string, said: Reply): Reply {
  return { type: 'extension_ui_response', id, ...said };
}
