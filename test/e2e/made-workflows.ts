import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scene } from './scene.ts';

let names = 0;

/** Writes a workflow of a name of its own, and answers that. */
export function workflow(s: Scene, steps: Readonly<Record<string, unknown>>, more: object = {}): string {
  const name = `made-${++names}`;
  s.bench.writeWorkflow(name, { steps, ...more });
  return name;
}

/** Runs a workflow to its end; answers what it came to. */
export async function outcomeOf(s: Scene, name: string, more: object = {}): Promise<string | undefined> {
  const { runId } = await s.client.call('runWorkflow', { id: name, body: { cwd: s.directory, ...more } });
  return (await s.ended(runId)).outcome;
}

/** The lines that steps have written, in the order of the alphabet. */
export const linesOf = (s: Scene, file: string): string[] =>
  readFileSync(join(s.directory, file), 'utf8').trim().split('\n').sort();
