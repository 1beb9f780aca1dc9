import type { OutputInput } from '../contract/workflow-parts.ts';
import type { StepInput, StepInputs } from '../contract/workflow-steps.ts';
import type { SubAgentInput } from '../contract/workflow-todo.ts';
import type { OutputPlan, TextMessage } from '../ledger/planned-message.ts';
import { defaultTimeoutMs } from '../ledger/registration.ts';
import type {
  AgentUse,
  RowsPlan,
  StepPlan,
  StepProgram,
  SubAgentPlan,
  TodoPlan,
} from '../ledger/step-plan.ts';
import { needsOf } from './needs.ts';
import { budgetOf, plannedMessage, retryOf } from './planned-message.ts';
import type { ReadWorkflow } from './read-file.ts';

/** How often results are handed over to an orchestrator if nobody says. */
const defaultRounds = 10;

/** The steps of a file that has no mistakes, as the ledger runs them, in the order of the file. */
export function stepPlansOf(file: ReadWorkflow): StepPlan[] {
  const needs = needsOf(file);
  return [...file.steps].map(([name, step]) => planOf(name, step, needs.get(name) ?? []));
}

function planOf(name: string, step: StepInput, needs: readonly string[]): StepPlan {
  const { said } = step;
  const outputs = 'outputs' in said ? (said.outputs ?? {}) : {};
  const budget = 'budget' in said ? said.budget : undefined;
  const retry = 'retry' in said ? said.retry : undefined;
  return {
    name,
    needs,
    when: said.when ?? null,
    retry: retry ? retryOf(retry) : null,
    timeoutMs: said.timeout ?? (step.type === 'script' ? defaultTimeoutMs : null),
    onFailure: said.onFailure ?? 'stop',
    outputs: Object.fromEntries(Object.entries(outputs).map(([key, output]) => [key, outputOf(output)])),
    repairs: 'repairs' in said ? (said.repairs ?? 0) : 0,
    budget: budget ? budgetOf(budget) : null,
    does: programOf(step),
  };
}

function outputOf(output: OutputInput): OutputPlan {
  if ('file' in output) return { from: 'file', path: output.file };
  if ('command' in output) return { from: 'command', command: output.command };
  const schema = output.schema ?? null;
  return 'json' in output ? { from: 'json', path: output.json, schema } : { from: 'answer', schema };
}

function programOf(step: StepInput): StepProgram {
  switch (step.type) {
    case 'script': {
      const { run, env = {}, cwd = null } = step.said;
      return { type: 'script', run, env, cwd };
    }
    case 'agent':
      return { type: 'agent', ...useOf(step.said), prompt: step.said.prompt };
    case 'sequence':
      return sequenceOf(step.said);
    case 'todo':
      return { type: 'todo', ...useOf(step.said), prompt: step.said.prompt, ...todoOf(step.said) };
    case 'route':
      return routeOf(step.said);
    case 'human': {
      const { question, choices = [], declines = [], otherwise = null } = step.said;
      return { type: 'human', question, choices, declines, otherwise };
    }
    case 'workflow': {
      const { workflow, group = null, inputs = {} } = step.said;
      return { type: 'workflow', workflow, group, inputs };
    }
  }
}

function useOf(said: { agent?: string | undefined; cwd?: string | undefined }): AgentUse {
  return { agent: said.agent ?? null, cwd: said.cwd ?? null };
}

function sequenceOf(said: StepInputs['sequence']): StepProgram {
  const messages: TextMessage[] = [];
  for (const each of said.messages) {
    if ('text' in each) {
      messages.push({ ...plannedMessage(each), templates: true });
      continue;
    }
    const before = messages.pop();
    const { validate, repairs = 0, say = null } = each;
    const gate = { command: validate, outputs: null, repairs, repairText: say };
    if (before) messages.push({ ...before, gate });
  }
  return { type: 'sequence', ...useOf(said), foreach: rowsOf(said.foreach), messages };
}

function rowsOf(foreach: StepInputs['sequence']['foreach']): RowsPlan | null {
  if (foreach === undefined) return null;
  if ('csv' in foreach) return { from: 'csv', path: foreach.csv };
  if ('json' in foreach) return { from: 'json', path: foreach.json };
  const { command, timeout: timeoutMs } = foreach;
  return { from: 'command', command, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

function todoOf(said: Omit<SubAgentInput, 'prompt'>): Omit<TodoPlan, 'prompt'> {
  const agents = Object.entries(said.agents ?? {});
  return {
    agents: Object.fromEntries(agents.map(([name, agent]) => [name, subAgentOf(agent)])),
    generic: said.generic ?? agents.length === 0,
    maxRounds: said.maxRounds ?? defaultRounds,
    onChildFailure: said.onChildFailure ?? 'cancel',
  };
}

function subAgentOf(said: SubAgentInput): SubAgentPlan {
  const isController = said.agents !== undefined || said.generic === true;
  return {
    ...useOf(said),
    description: said.description ?? null,
    prompt: said.prompt ?? null,
    todo: isController ? todoOf(said) : null,
  };
}

function routeOf(said: StepInputs['route']): StepProgram {
  const { prompt, value = '', cases, otherwise = null } = said;
  const by = prompt === undefined ? { value } : { prompt };
  return { type: 'route', ...useOf(said), by, cases, otherwise };
}
