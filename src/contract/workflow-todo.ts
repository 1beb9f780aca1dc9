import { z } from 'zod';
import { nameText, textOf } from './text.ts';
import { templated, templatedPath, wordName } from './workflow-parts.ts';

/** How many sub-agents one orchestrator may have. */
const mostAgents = 100;

const rules = {
  generic: z.boolean().optional().meta({
    description: 'Whether call_generic_agent is offered. Default: true where no agents are named.',
  }),
  maxRounds: z.int().min(1).max(1_000).optional().meta({
    description: 'How often results are handed over at most. Default: 10.',
  }),
  onChildFailure: z.enum(['cancel', 'wait']).optional().meta({
    description:
      'cancel (the default): when one child fails, those beside it are cancelled before the orchestrator is told.',
  }),
} as const;

/** A sub-agent of an orchestrator; with agents of its own it is an orchestrator too. */
export interface SubAgentInput {
  readonly agent?: string | undefined;
  readonly cwd?: string | undefined;
  readonly description?: string | undefined;
  readonly prompt?: string | undefined;
  readonly agents?: Readonly<Record<string, SubAgentInput>> | undefined;
  readonly generic?: boolean | undefined;
  readonly maxRounds?: number | undefined;
  readonly onChildFailure?: 'cancel' | 'wait' | undefined;
}

const subAgent: z.ZodType<SubAgentInput> = z
  .strictObject({
    agent: nameText.optional().meta({ description: 'An agent profile; default: that of the step.' }),
    cwd: templatedPath.optional(),
    description: textOf(2_000, 1)
      .optional()
      .meta({ description: 'What it is good for: the orchestrator reads it.' }),
    prompt: templated.optional().meta({ description: 'Said before the instruction that it is called with.' }),
    get agents() {
      return subAgents.optional().meta({ description: 'With agents of its own it is an orchestrator too.' });
    },
    ...rules,
  })
  .meta({ id: 'SubAgent' });

const subAgents: z.ZodType<Readonly<Record<string, SubAgentInput>>> = z
  .record(wordName, subAgent)
  .refine((agents) => Object.keys(agents).length <= mostAgents, `has more than ${mostAgents} agents`)
  .meta({ id: 'SubAgents' });

/** What makes an agent an orchestrator, as it is written. */
export const todoKeys = {
  agents: subAgents.optional().meta({ description: 'What call_sub_agent can call, by name.' }),
  ...rules,
} as const;
