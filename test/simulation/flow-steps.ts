import type { Gate } from '../../src/ledger/planned-message.ts';
import type { RouteProgram, SequenceProgram, StepPlan, StepProgram } from '../../src/ledger/step-plan.ts';
import type { Choices } from './choices.ts';
import { orchestrationOf } from './orchestrators.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** How deep workflows of a history are in each other. */
const deepest = 4;
/** What steps do; the simplest first, and the likelier the more often it stands here. */
const stepTypes = [
  'script',
  'script',
  'agent',
  'todo',
  'todo',
  'sequence',
  'sequence',
  'route',
  'human',
  'workflow',
] as const;
/** What is tried again: what is inside one another is made up once, so it is tried once. */
const repeatable: readonly string[] = ['script', 'agent', 'todo', 'sequence', 'route'];
/** What an agent that has to choose says, and of what a step without an agent is made. The last is none of the cases. */
export const sayings = ['a', 'b', 'neither'] as const;

/** A step of a made-up workflow. `before` are those that it may need; it may be put into a case of the routes among them. */
export function stepPlan(
  choices: Choices,
  name: string,
  before: readonly StepPlan[],
  depth: number,
): StepPlan {
  const does = doesOf(choices, name, depth);
  const needs = before.filter((other) => choices.chance(50) || joinsCase(choices, name, other));
  return {
    name,
    needs: needs.map((need) => need.name),
    when: choices.chance(15) ? 'false' : null,
    retry:
      repeatable.includes(does.type) && choices.chance(50)
        ? { max: 1 + choices.below(2), backoffMs: choices.pick([0, 20_000]) }
        : null,
    timeoutMs: does.type === 'script' ? choices.pick([null, 5 * minuteMs]) : null,
    onFailure: choices.pick(['stop', 'continue'] as const),
    outputs: {},
    repairs: 0,
    budget: null,
    does,
  };
}

/** The step that runs a workflow for one of its groups, side by side with those of the others. */
export function groupPlan(workflow: string, group: string): StepPlan {
  return {
    name: group,
    needs: [],
    when: null,
    retry: null,
    timeoutMs: null,
    onFailure: 'stop',
    outputs: {},
    repairs: 0,
    budget: null,
    does: { type: 'workflow', workflow, group, inputs: {} },
  };
}

/** Puts a step into one of the cases of a route, now and then: then it needs that. */
function joinsCase(choices: Choices, name: string, { does }: StepPlan): boolean {
  if (does.type !== 'route' || !choices.chance(50)) return false;
  (does.cases[choices.pick(['a', 'b'] as const)] as string[]).push(name);
  return true;
}

function doesOf(choices: Choices, name: string, depth: number): StepProgram {
  const use = { agent: null, cwd: null } as const;
  const type = choices.pick(stepTypes);
  switch (type) {
    case 'agent':
      return { ...use, type, prompt: `{{${name}.m}}` };
    case 'todo':
      return { ...use, type, prompt: `{{${name}.m}}`, ...orchestrationOf(choices) };
    case 'sequence':
      return sequenceOf(choices, name);
    case 'route':
      return routeOf(choices, name);
    case 'human':
      return { type, question: `${name}?`, choices: ['yes', 'no'], declines: ['no'], otherwise: null };
    case 'workflow':
      if (depth < deepest) return { type, workflow: name, group: null, inputs: {} };
      return { type: 'script', run: name, env: {}, cwd: null };
    default:
      return { type, run: name, env: {}, cwd: null };
  }
}

/** Two or three messages, perhaps for each of two rows, some with a gate behind them. */
function sequenceOf(choices: Choices, name: string): SequenceProgram {
  const messages = Array.from({ length: 1 + choices.below(2) }, (_, index) => {
    const label = `${name}.m${index}`;
    const gate: Gate = {
      command: `gate of ${label}`,
      outputs: null,
      repairs: choices.below(3),
      repairText: label,
    };
    return {
      text: `{{${label}}}`,
      timeoutMs: 4 * hourMs,
      onFailure: choices.pick(['stop', 'stop', 'continue'] as const),
      join: 'own',
      check: null,
      background: 'wait',
      ...(choices.chance(50) ? { gate } : {}),
    } as const;
  });
  const foreach = choices.chance(40) ? ({ from: 'command', command: `rows of ${name}` } as const) : null;
  return { type: 'sequence', agent: null, cwd: null, foreach, messages };
}

function routeOf(choices: Choices, name: string): RouteProgram {
  const by = choices.chance(50) ? { prompt: `{{${name}.m}}` } : { value: choices.pick(sayings) };
  const otherwise = choices.pick([null, 'a']);
  return { type: 'route', agent: null, cwd: null, by, cases: { a: [], b: [] }, otherwise };
}
