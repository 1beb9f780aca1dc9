import { z } from 'zod';
import { executionStates } from './execution.ts';
import { scheduleOfAgent } from './schedule-input.ts';
import { sequenceMessage } from './sequence.ts';
import { longText, nameText, textOf } from './text.ts';

const executionRef = nameText.describe(
  'The id of an execution (exe_…); the beginning is enough if it fits only one.',
);

const workflowRef = nameText.describe('The name of the workflow, or project/name.');
const groupRef = nameText
  .optional()
  .describe('One group of the workflow; left out, all of its groups run side by side.');
const inputValues = z
  .record(nameText, z.union([textOf(100_000), z.number(), z.boolean()]))
  .optional()
  .describe('Values of the inputs that the workflow takes, by name.');
const targetRef = nameText
  .optional()
  .describe(
    'The id of a run (run_…) or of a workflow that ran (exe_…); default: the one of this conversation that was closed last.',
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
  run_full_workflow: z.strictObject({
    workflow: workflowRef,
    group: groupRef,
    inputs: inputValues,
    disable_evaluation: z
      .boolean()
      .optional()
      .describe('True: it is not scored when it is closed, whatever its file says.'),
  }),
  run_full_evaluation: z.strictObject({
    workflow: nameText.describe(
      'The workflow that scores (its file says "of: run"), or the one to be scored, whose file says what scores it.',
    ),
    run: targetRef,
  }),
  execute_step: z.strictObject({
    workflow: workflowRef,
    step: nameText.describe('The step; it runs alone, without what it needs.'),
    group: groupRef,
    inputs: inputValues,
  }),
  start_review: z.strictObject({
    kind: nameText.describe('Which review: one that stemma.yaml names, or "general".'),
    run: targetRef,
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
  call_sub_agent: z.strictObject({
    agent: nameText.describe('Which sub-agent: one of those that this work has.'),
    instruction: longText.describe('What it shall do, complete in itself.'),
    name: nameText
      .optional()
      .describe(
        'A short name for this piece of work; called again under the same name it is another attempt.',
      ),
  }),
  call_generic_agent: z.strictObject({
    instruction: longText.describe('What the agent shall do, complete in itself.'),
    name: nameText
      .optional()
      .describe(
        'A short name for this piece of work; called again under the same name it is another attempt.',
      ),
    agent: nameText.optional().describe('The agent profile; default: the one of this session.'),
  }),
  query_sub_agent: z.strictObject({ id: executionRef }),
  stop_sub_agent: z.strictObject({ id: executionRef }),
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
