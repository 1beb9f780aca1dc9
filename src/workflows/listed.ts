import type { WorkflowInputSaid } from '../contract/workflow-file.ts';
import { needsOf } from './needs.ts';
import type { ListedInput, ListedWorkflow } from './port.ts';
import type { ReadWorkflow } from './read-file.ts';

/** A workflow as it is listed; of a file with mistakes, what could be read. */
export function listedWorkflow(
  project: string,
  name: string,
  file: ReadWorkflow | undefined,
  problems: readonly string[],
): ListedWorkflow {
  const head = file?.head ?? {};
  const needs = file ? needsOf(file) : undefined;
  return {
    project,
    name,
    description: head.description ?? null,
    isEvaluation: head.of !== undefined,
    evaluation: head.evaluation ?? null,
    groups: Object.keys(head.groups ?? {}),
    inputs: Object.entries(head.inputs ?? {}).map(([input, said]) => listedInput(input, said)),
    steps: [...(file?.steps ?? [])].map(([step, { type }]) => ({
      name: step,
      type,
      needs: needs?.get(step) ?? [],
    })),
    problems,
  };
}

function listedInput(name: string, said: WorkflowInputSaid): ListedInput {
  return {
    name,
    description: said.description ?? null,
    type: said.type ?? 'string',
    isRequired: said.required ?? false,
    default: said.default ?? null,
    choices: said.enum ?? [],
  };
}
