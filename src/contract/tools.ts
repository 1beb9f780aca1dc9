import { z } from 'zod';
import { executionStates } from './execution.ts';
import { scheduleOfAgent } from './schedule-input.ts';
import { sequenceMessage } from './sequence.ts';
import { longText, nameText } from './text.ts';

const executionRef = nameText.describe(
  'The id of an execution (exe_…); the beginning is enough if it fits only one.',
);

/** The arguments of every tool that an agent can call. Strict: a key that is not known is refused. */
export const toolArguments = {
  run_in_background: z.strictObject({
    name: nameText.describe('A short name for the work, for people.'),
    instruction: longText.describe('What the background agent shall do, complete in itself.'),
    agent: nameText.optional().describe('The agent profile; default: the one of this session.'),
    messages: z
      .array(sequenceMessage)
      .max(100)
      .optional()
      .describe(
        'Further messages for the same conversation, each sent when all that the one before started is finished.',
      ),
  }),
  list_executions: z.strictObject({
    state: z.enum(executionStates).optional().describe('Only executions in this state.'),
  }),
  get_execution: z.strictObject({ id: executionRef }),
  send_to_execution: z.strictObject({ id: executionRef, text: longText.describe('The text for its agent.') }),
  cancel_execution: z.strictObject({ id: executionRef }),
  list_schedules: z.strictObject({
    project: nameText.optional().describe('Only schedules of this project.'),
  }),
  trigger_schedule: z.strictObject({
    name: nameText.describe('The schedule: its name, or project/name.'),
  }),
  create_schedule: scheduleOfAgent,
} as const;

export type ToolName = keyof typeof toolArguments;
/** The parsed arguments of a tool. */
export type ToolArguments<Name extends ToolName> = z.output<(typeof toolArguments)[Name]>;

export const launchAnswer = z.object({
  executionId: z.string(),
  rootId: z.string(),
  parentId: z.string().nullable(),
  state: z.enum(executionStates),
});
/** What every launch returns, after the registration is committed. */
export type LaunchAnswer = z.infer<typeof launchAnswer>;
