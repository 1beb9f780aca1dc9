import { resolve } from 'node:path';
import type { Graph } from '../ledger/graph.ts';
import type { RunsContext } from './ports.ts';

/** Where a step works, or why it cannot. */
export type StepDirectory =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** The directory of a step: that of its workflow, or one that is meant from there. Its name may have templates. */
export async function directoryOf(
  { steps }: Pick<RunsContext, 'steps'>,
  graph: Graph,
  cwd: string | null,
): Promise<StepDirectory> {
  const filled = await steps.texts.fill(graph, cwd ?? '.');
  if (!filled.ok) return { ok: false, code: 'TEMPLATE_FAILED', message: filled.message };
  const path = resolve(graph.settings.cwd, filled.text);
  if (await steps.isDirectory(path)) return { ok: true, path };
  const message = `There is no directory ${path}; make it, or correct "cwd" of the step or of the workflow.`;
  return { ok: false, code: 'INVALID_WORKSPACE', message };
}
