import type { Graph } from '../ledger/graph.ts';
import type { OutputPlan } from '../ledger/planned-message.ts';
import type { StepPlan, StepProgram, SubAgentPlan } from '../ledger/step-plan.ts';
import type { RunsContext } from './ports.ts';

/** A step whose paths and sub-agents have no templates any more, or why they cannot be filled in. */
export type FilledStep =
  | { readonly ok: true; readonly plan: StepPlan }
  | { readonly ok: false; readonly message: string };

/** A template of a step could not be filled in; the message begins with the key that it stands at. */
class Unfilled extends Error {}

/**
 * Fills in what a step says of files and of sub-agents, when an attempt begins. Prompts and messages are not among it: they are
 * filled in when they are sent.
 */
export async function filledStep(
  { steps }: Pick<RunsContext, 'steps'>,
  graph: Graph,
  plan: StepPlan,
): Promise<FilledStep> {
  const fill: Fill = async (key, text) => {
    const filled = await steps.texts.fill(graph, text);
    if (filled.ok) return filled.text;
    throw new Unfilled(`${key}: ${filled.message}`);
  };
  try {
    const outputs = await filledOutputs(plan.outputs, fill);
    return { ok: true, plan: { ...plan, outputs, does: await filledProgram(plan.does, fill) } };
  } catch (error) {
    if (error instanceof Unfilled) return { ok: false, message: error.message };
    throw error;
  }
}

type Fill = (key: string, text: string) => Promise<string>;

async function filledOutputs(outputs: StepPlan['outputs'], fill: Fill): Promise<StepPlan['outputs']> {
  const filled: Record<string, OutputPlan> = {};
  for (const [name, output] of Object.entries(outputs))
    filled[name] =
      'path' in output ? { ...output, path: await fill(`outputs.${name}`, output.path) } : output;
  return filled;
}

async function filledProgram(does: StepProgram, fill: Fill): Promise<StepProgram> {
  if (does.type === 'todo') return { ...does, agents: await filledAgents('agents', does.agents, fill) };
  if (does.type !== 'sequence' || does.foreach === null || !('path' in does.foreach)) return does;
  return { ...does, foreach: { ...does.foreach, path: await fill('foreach', does.foreach.path) } };
}

async function filledAgents(
  at: string,
  agents: Readonly<Record<string, SubAgentPlan>>,
  fill: Fill,
): Promise<Readonly<Record<string, SubAgentPlan>>> {
  const filled: Record<string, SubAgentPlan> = {};
  for (const [name, agent] of Object.entries(agents)) {
    const key = `${at}.${name}`;
    const { prompt, cwd, todo } = agent;
    filled[name] = {
      ...agent,
      prompt: prompt === null ? null : await fill(`${key}.prompt`, prompt),
      cwd: cwd === null ? null : await fill(`${key}.cwd`, cwd),
      todo: todo && { ...todo, agents: await filledAgents(`${key}.agents`, todo.agents, fill) },
    };
  }
  return filled;
}
