import { z } from 'zod';
import type { ServerRequest } from './rpc-client.ts';

/** A question of Codex in the two answers that a person is offered. Rules that would outlive the one case are not. */
export interface Question {
  readonly text: string;
  readonly choices: readonly string[];
  /** What Codex gets to hear; undefined for a choice that was not offered. */
  readonly reply: (choice: string) => unknown;
  /** Answered without asking anybody. */
  readonly always?: string;
}

const yesNo = ['accept', 'decline'] as const;

function decide(accept: unknown, decline: unknown): Question['reply'] {
  return (choice) => (choice === 'accept' ? accept : choice === 'decline' ? decline : undefined);
}

const approve = decide({ decision: 'accept' }, { decision: 'decline' });

/** What a request asks. Undefined: nothing that anybody here could answer. */
export function readQuestion({ method, params }: ServerRequest, toolsName: string): Question | undefined {
  switch (method) {
    case 'item/commandExecution/requestApproval': {
      const { command, cwd, reason } = commandParams.catch({}).parse(params);
      const text = `Run ${command ?? 'a command'}${cwd ? ` in ${cwd}` : ''}?${reason ? ` ${reason}` : ''}`;
      return { text, choices: yesNo, reply: approve };
    }
    case 'item/fileChange/requestApproval': {
      const { reason } = commandParams.catch({}).parse(params);
      const text = `Change files?${reason ? ` ${reason}` : ''}`;
      return { text, choices: yesNo, reply: approve };
    }
    case 'item/permissions/requestApproval': {
      const { permissions, reason } = permissionParams.catch({}).parse(params);
      const text = `Grant ${JSON.stringify(permissions ?? {})} for this turn?${reason ? ` ${reason}` : ''}`;
      const refused = { permissions: {}, scope: 'turn' };
      const reply = decide({ permissions: granted(permissions), scope: 'turn' }, refused);
      return { text, choices: yesNo, reply };
    }
    case 'mcpServer/elicitation/request':
      return readElicitation(params, toolsName);
    case 'item/tool/requestUserInput':
      return readUserInput(params);
    case 'item/tool/call':
      return {
        text: '',
        choices: [],
        always: 'decline',
        reply: () => ({ contentItems: [], success: false }),
      };
    case 'execCommandApproval':
    case 'applyPatchApproval': {
      const refused = { decision: { denied: { rejection: 'declined' } } };
      return { text: 'Go on?', choices: yesNo, reply: decide({ decision: 'approved' }, refused) };
    }
    default:
      return undefined;
  }
}

const commandParams = z.object({
  command: z.string().nullish(),
  cwd: z.string().nullish(),
  reason: z.string().nullish(),
});
const permissionParams = z.object({
  reason: z.string().nullish(),
  permissions: z.record(z.string(), z.unknown()).nullish(),
});

function granted(asked: Readonly<Record<string, unknown>> | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(asked ?? {}).filter(([, value]) => value !== null));
}

const elicitation = z.object({
  serverName: z.string(),
  message: z.string().nullish(),
  _meta: z.object({ codex_approval_kind: z.string().nullish() }).nullish(),
  requestedSchema: z.object({ required: z.array(z.string()).nullish() }).nullish(),
});

/** A tool server asks, or Codex asks whether one of its tools may be used. A form that needs filling in is declined. */
function readElicitation(params: unknown, toolsName: string): Question {
  const read = elicitation.safeParse(params);
  const decline = { action: 'decline', content: null, _meta: null };
  if (!read.success) return { text: '', choices: [], always: 'decline', reply: () => decline };
  const { serverName, message, _meta, requestedSchema } = read.data;
  const isOurTool = serverName === toolsName && _meta?.codex_approval_kind === 'mcp_tool_call';
  const needsForm = (requestedSchema?.required?.length ?? 0) > 0;
  return {
    text: message ?? `The tool server ${serverName} asks for something.`,
    choices: needsForm ? ['decline'] : yesNo,
    reply: needsForm
      ? decide(undefined, decline)
      : decide({ action: 'accept', content: {}, _meta: null }, decline),
    ...(isOurTool ? { always: 'accept' } : {}),
  };
}

const userInput = z.object({
  questions: z.array(
    z.object({
      id: z.string(),
      question: z.string(),
      options: z.array(z.object({ label: z.string() })).nullish(),
    }),
  ),
});

/** The agent asks the user something. One question with options can be answered here; others are answered with nothing. */
function readUserInput(params: unknown): Question {
  const questions = userInput.safeParse(params).data?.questions ?? [];
  const [first] = questions;
  const labels = questions.length === 1 ? (first?.options?.map((option) => option.label) ?? []) : [];
  return {
    text: questions.map((question) => question.question).join('\n'),
    choices: [...labels, 'decline'],
    reply: (choice) => {
      const isAnswer = first !== undefined && labels.includes(choice);
      return { answers: isAnswer ? { [first.id]: { answers: [choice] } } : {} };
    },
  };
}
