import { z } from 'zod';
import { budget } from './budget.ts';
import { retryInput, sequenceMessage } from './sequence.ts';
import { scheduleName } from './schedule-input.ts';
import { nameText, textOf } from './text.ts';
import {
  environment,
  outputsInput,
  repairCount,
  shellText,
  templated,
  templatedPath,
  timeout,
  variableName,
  wordName,
} from './workflow-parts.ts';
import { todoKeys } from './workflow-todo.ts';

/** How many steps one may need, and how many messages a sequence may have. */
const largestList = 1_000;

const common = {
  description: textOf(1_000).optional(),
  needs: z.array(wordName).max(largestList).optional().meta({
    description: 'Steps that must have ended before. Steps that do not need each other run side by side.',
  }),
  when: textOf(10_000, 1).optional().meta({
    description: `A condition, as in {{inputs.mode}} == "full". When it does not hold the step is skipped, and what needs it goes on.`,
  }),
  timeout: timeout.optional().meta({ description: 'From the beginning of an attempt to its end.' }),
  onFailure: z.enum(['stop', 'continue']).optional().meta({
    description: 'continue: its failure fails neither the workflow nor what needs it. Default: stop.',
  }),
} as const;

const retried = { retry: retryInput.optional() } as const;
const leaving = { outputs: outputsInput.optional() } as const;
const repaired = {
  repairs: repairCount.optional().meta({
    description: 'How often what does not fit the outputs goes back into the same conversation. Default: 0.',
  }),
} as const;
const byAgent = {
  agent: nameText.optional().meta({ description: 'An agent profile; default: that of the workflow.' }),
  cwd: templatedPath
    .optional()
    .meta({ description: "Relative to the workflow's directory, which is the default." }),
  budget: budget.optional(),
} as const;

const scriptStep = z.strictObject({
  type: z.literal('script').optional(),
  run: z.union([shellText, z.array(textOf(100_000)).min(1, 'needs a program').max(largestList)]).meta({
    description:
      'A text for the shell, without templates: values come as INPUT_NAME, GROUP_NAME and by env. Or program and arguments as a list, each with templates.',
  }),
  env: environment.optional(),
  cwd: templatedPath.optional(),
  ...common,
  ...retried,
  ...leaving,
});

const agentStep = z.strictObject({
  type: z.literal('agent').optional(),
  prompt: templated.meta({ description: 'What the agent is told.' }),
  ...byAgent,
  ...common,
  ...retried,
  ...leaving,
  ...repaired,
});

const rows = z
  .union([
    z.strictObject({
      csv: templatedPath.meta({ description: 'A CSV file, whose first line has the names.' }),
    }),
    z.strictObject({ json: templatedPath.meta({ description: 'A JSON file with a list.' }) }),
    z.strictObject({
      command: shellText.meta({ description: 'What a command prints: a JSON list, or a JSON value a line.' }),
      timeout: timeout.optional().meta({ description: 'How long the command may take. Default: 10m.' }),
    }),
  ])
  .meta({ description: 'For every row all messages, strictly one after the other: {{row.COLUMN}}.' });

const gate = z
  .strictObject({
    validate: shellText.meta({
      description:
        'A shell command; with another exit code than 0 the message before it goes back for a repair.',
    }),
    repairs: repairCount.optional().meta({ description: 'How often it may be repaired. Default: 0.' }),
    say: textOf(10_000, 1)
      .optional()
      .meta({ description: 'What the agent is told then, before what was wrong.' }),
  })
  .meta({ description: 'What must hold behind the message before it.' });

const sequenceStep = z.strictObject({
  type: z.literal('sequence').optional(),
  foreach: rows.optional(),
  messages: z
    .array(z.union([sequenceMessage, gate]))
    .min(1, 'needs at least one message')
    .max(largestList, `has more than ${largestList} messages`)
    .meta({ description: 'Sent in order, each when the tree of the one before is closed.' }),
  ...byAgent,
  ...common,
  ...retried,
  ...leaving,
  ...repaired,
});

const todoStep = z.strictObject({
  type: z.literal('todo').optional(),
  prompt: templated.meta({ description: 'What the orchestrator is told.' }),
  ...todoKeys,
  ...byAgent,
  ...common,
  ...retried,
  ...leaving,
  ...repaired,
});

const routeStep = z.strictObject({
  type: z.literal('route').optional(),
  prompt: templated.optional().meta({ description: 'An agent answers with the name of a case.' }),
  value: templated.optional().meta({ description: 'A text with templates that is the name of a case.' }),
  cases: z.record(wordName, z.array(wordName).max(largestList)).meta({
    description: 'The steps that only run when their case is chosen. Each of them needs this step.',
  }),
  otherwise: wordName.optional().meta({
    description: 'The case for a value that is none; left out, the step fails.',
  }),
  ...byAgent,
  ...common,
  ...retried,
});

const choice = textOf(200, 1);

const humanStep = z.strictObject({
  type: z.literal('human').optional(),
  question: templated.meta({ description: 'What a person is asked.' }),
  choices: z.array(choice).max(50).optional().meta({ description: 'Left out: any text.' }),
  declines: z.array(choice).max(50).optional().meta({ description: 'With these answers the step fails.' }),
  otherwise: choice.optional().meta({
    description: 'The answer when nobody gives one within timeout; left out, the step fails.',
  }),
  ...common,
});

const scalar = z.union([templated, z.literal(''), z.number(), z.boolean()]).transform(String);

const workflowStep = z.strictObject({
  type: z.literal('workflow').optional(),
  workflow: scheduleName.meta({ description: 'Another workflow of the same project.' }),
  group: templated.optional(),
  inputs: z.record(variableName, scalar).optional(),
  budget: budget.optional(),
  ...common,
  ...retried,
});

/** What may be said of a step, by its type. */
export const stepSchemas = {
  script: scriptStep,
  agent: agentStep,
  sequence: sequenceStep,
  todo: todoStep,
  route: routeStep,
  human: humanStep,
  workflow: workflowStep,
} as const;

/** The types of steps as they are written. */
export type StepTypeName = keyof typeof stepSchemas;

/** A step of each type as it is parsed. */
export type StepInputs = { readonly [Type in StepTypeName]: z.output<(typeof stepSchemas)[Type]> };

/** A step as it is parsed, with its type. */
export type StepInput = {
  [Type in StepTypeName]: { readonly type: Type; readonly said: StepInputs[Type] };
}[StepTypeName];

/** Any step, for the JSON Schema: what one is must be known before it is parsed, or its mistakes would be guessed. */
export const anyStep = z
  .union([scriptStep, agentStep, sequenceStep, todoStep, routeStep, humanStep, workflowStep])
  .meta({ id: 'WorkflowStep', description: 'A step. Its type may be left out where a key says it.' });
