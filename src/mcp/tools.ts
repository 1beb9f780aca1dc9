import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { LaunchAnswer, ToolName } from '../contract/tools.ts';
import { launchAnswer, toolArguments } from '../contract/tools.ts';
import type { ToolResults } from './ports.ts';

/** What the agent is told about the server when it connects. */
export const instructions =
  'Stemma runs work beside this conversation and brings its results back into it. Start work with run_in_background, or a workflow with run_full_workflow, then end your turn: each result comes to you by itself as a message that begins with "[stemma". Never wait or poll for one.';

const descriptions: Readonly<Record<ToolName, string>> = {
  run_in_background:
    'Starts another agent on a task, in a conversation of its own, and returns at once. Its result comes to you in this conversation when everything that it set in motion is finished. End your turn after the launch; do not wait or poll.',
  run_full_workflow:
    'Runs a workflow: all its steps, each when what it needs has ended. It returns at once; the result comes to you in this conversation when everything is finished. End your turn after the launch.',
  run_full_evaluation:
    'Scores a run of a workflow when that is closed. It returns at once; the score comes to you in this conversation.',
  execute_step:
    'Runs one step of a workflow alone. If that step runs already, you get the one that runs. It returns at once; the result comes to you in this conversation.',
  start_review:
    'Starts an agent that reviews what a run did, from its record. It returns at once; the review comes to you in this conversation.',
  list_executions: 'Lists what this conversation has set in motion, newest first, with states.',
  get_execution: 'Shows one execution of this conversation: state, error, result.',
  send_to_execution: 'Sends a further text to the agent of an execution of this conversation.',
  cancel_execution: 'Stops an execution of this conversation and everything below it.',
  list_schedules: 'Lists the schedules: when each runs next, and how its last run went.',
  trigger_schedule:
    'Begins a run of a schedule now. It is work of its own: its result does not come to this conversation.',
  create_schedule:
    'Makes a schedule: messages that are sent by themselves, in a conversation of their own, at the times that it says. It replaces one of the same name that an agent made.',
  call_sub_agent:
    'Starts one of the sub-agents of this work on a task, and returns at once. Start all that can go side by side, then end your turn: when everything that you started has ended, all results come to you in one message.',
  call_generic_agent:
    'Starts an agent that is told nothing but your instruction, and returns at once. Its result comes to you with those of everything else that you started, when all of it has ended. End your turn; do not wait or poll.',
  query_sub_agent: 'Shows a sub-agent that this conversation started: state, error, result.',
  stop_sub_agent:
    'Stops a sub-agent that this conversation started, and everything below it. You are not told of its end.',
};

const readOnly: ReadonlySet<ToolName> = new Set([
  'list_executions',
  'get_execution',
  'list_schedules',
  'query_sub_agent',
]);
const destructive: ReadonlySet<ToolName> = new Set(['cancel_execution', 'stop_sub_agent']);
const whenAllHaveEnded =
  'Start whatever else can go beside it, then end your turn: when everything that you started has ended, all results come to you in one message. Do not wait or poll.';
const whenItHasEnded =
  'The result will come to you in this conversation when everything it set in motion is finished. Do not wait or poll for it: do what else there is to do, then end your turn.';

/** Those by which something begins. */
const launches: ReadonlySet<ToolName> = new Set([
  'run_in_background',
  'run_full_workflow',
  'run_full_evaluation',
  'execute_step',
  'start_review',
  'call_sub_agent',
  'call_generic_agent',
]);

function isForOrchestrators(name: ToolName): boolean {
  return name === 'call_sub_agent' || name === 'call_generic_agent';
}

/** The names of all tools. */
export const toolNames = Object.keys(toolArguments) as ToolName[];

/** The tools as the protocol lists them. */
export const toolList: readonly Tool[] = toolNames.map((name) => ({
  name,
  description: descriptions[name],
  inputSchema: schemaOf(toolArguments[name], 'input'),
  ...(launches.has(name) ? { outputSchema: schemaOf(launchAnswer, 'output') } : {}),
  annotations: {
    readOnlyHint: readOnly.has(name),
    destructiveHint: destructive.has(name),
    openWorldHint: false,
  },
}));

/** Whether there is such a tool. */
export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(toolArguments, name);
}

/** What the agent reads when a call went well. Programs read the structured content beside it. */
export function sayResult<Name extends ToolName>(name: Name, result: ToolResults[Name]): string {
  if (!launches.has(name)) return JSON.stringify(result);
  const { executionId, state } = result as LaunchAnswer;
  const what = name === 'execute_step' ? 'It runs' : 'Started';
  const inputs =
    name === 'execute_step' ? ' If it ran already, it keeps the inputs with which it began.' : '';
  return `${what}: ${executionId} (${state}).${inputs} ${isForOrchestrators(name) ? whenAllHaveEnded : whenItHasEnded}`;
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Tool['inputSchema'] {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  return rest as Tool['inputSchema'];
}
