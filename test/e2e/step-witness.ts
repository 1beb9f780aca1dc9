import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Execution, TreeView } from '../../src/contract/execution.ts';
import type { Scene } from './scene.ts';

/** What came of a workflow, in words that are the same whether its server was killed or not. */
export interface Witness {
  readonly outcome: string | undefined;
  /** What shell commands have done, sorted. */
  readonly ran: readonly string[];
  /** Every execution: kind, name, attempt, state, and what came of it; sorted. */
  readonly executions: readonly string[];
  /** Every text that an agent was given, in order, by the execution that hosts its conversation; sorted by that. */
  readonly told: readonly string[];
  /** What became of the results that were owed, sorted. */
  readonly notices: readonly string[];
  /** The files of the records, sorted. */
  readonly records: readonly string[];
}

/** What a witness looks at. */
export interface Seen {
  readonly scene: Scene;
  /** Of everything that was begun, in order. */
  readonly trees: readonly TreeView[];
  readonly told: readonly string[];
  /** The paths of all files of records, below the data directory. */
  readonly records: readonly string[];
}

/** Looks at what came of a workflow. */
export function witnessOf({ scene, trees, told, records }: Seen): Witness {
  const rows = trees.flatMap(({ executions }) => executions);
  const nameOf = (id: string): string => {
    const row = rows.find((each) => each.id === id);
    return row?.kind === 'continuation' ? 'a continuation' : (row?.name ?? id);
  };
  const same = (text: string): string => withoutPlaces(text, scene);
  return {
    outcome: trees.at(-1)?.outcome,
    ran: linesOf(scene, 'ran'),
    executions: rows
      .filter(({ kind }) => kind !== 'continuation')
      .map((row) => same(lineOf(row, nameOf)))
      .sort(),
    told: [...told.map((text) => same(text).trim()), ...linesOf(scene, 'told')].sort(),
    notices: trees
      .flatMap(({ notices }) => notices)
      .map(({ executionId, attempt, state }) => `${nameOf(executionId)} #${attempt} ${state}`)
      .sort(),
    records: records.flatMap((path) => fileOf(path, rows)).sort(),
  };
}

/** Every text by which an agent was told something, by its own record, with the name of what hosts its conversation. */
export async function toldIn(
  rows: readonly Execution[],
  promptsOf: (session: string) => Promise<readonly string[]>,
): Promise<string[]> {
  const texts: string[] = [];
  for (const session of new Set(rows.map(({ runsIn }) => runsIn))) {
    if (session === undefined) continue;
    const host = rows.find(({ runsIn }) => runsIn === session);
    // Which results come together depends on when they come.
    const parts = (await promptsOf(session)).flatMap((prompt) => prompt.split(/\n\n(?=\[stemma ntc)/));
    texts.push(...parts.map((part) => `${host?.name ?? ''}: ${part}`));
  }
  return texts;
}

function lineOf(row: Execution, nameOf: (id: string) => string): string {
  const { kind, name, attempt, state, parentId, outcome, error, result } = row;
  const where = parentId === null ? '' : ` in ${nameOf(parentId)}`;
  // What a program that is ended can still say depends on whether anybody listens.
  const said = state === 'cancelled' ? '' : (result ?? '');
  const came = error ? ` ${error.code}: ${error.message}` : ` ${said}`;
  return `${kind} ${name}#${attempt}${where}: ${state} ${outcome ?? ''}${came}`;
}

/** A file of the record of a workflow, by the name and attempt of that. */
function fileOf(path: string, rows: readonly Execution[]): string[] {
  const [, id = '', , step, attempt, file] = path.split('/');
  const workflow = rows.find((row) => row.id === id);
  const of = rows.find((row) => row.parentId === id && row.name === step && String(row.attempt) === attempt);
  if (!workflow || (of?.state === 'cancelled' && file === 'output.txt')) return [];
  return [`${workflow.name}#${workflow.attempt}: ${path.split('/').slice(2).join('/')}`];
}

function linesOf(scene: Scene, name: string): string[] {
  const file = join(scene.directory, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').sort() : [];
}

/** Without what differs between two that did the same. */
function withoutPlaces(text: string, scene: Scene): string {
  return text
    .replaceAll(scene.directory, 'HERE')
    .replaceAll(scene.bench.directory, 'BENCH')
    .replaceAll(/\b(exe|ses|ntc|run)_\w+/g, '$1')
    .replaceAll(/\d+\.\d s\b/g, 'TIME');
}
