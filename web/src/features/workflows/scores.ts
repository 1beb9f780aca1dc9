import type { Run } from '../../../../src/contract/run.ts';
import type { WorkflowView } from '../../../../src/contract/workflow.ts';

/** How many scores of one evaluation are looked at. */
const mostScores = 12;

/** The numbers that an evaluation left behind in its outputs, by their names: `points`, `score.points`. */
export function scoresOf({ steps }: Pick<WorkflowView, 'steps'>): Map<string, number> {
  const found = new Map<string, number>();
  for (const { outputs = {} } of steps)
    for (const [name, value] of Object.entries(outputs)) collect(name, value, found);
  return found;
}

function collect(name: string, value: unknown, found: Map<string, number>): void {
  if (found.size >= mostScores) return;
  const number = numberOf(value);
  if (number !== undefined) found.set(name, number);
  else if (typeof value === 'object' && value !== null && !Array.isArray(value))
    for (const [key, inner] of Object.entries(value)) collect(`${name}.${key}`, inner, found);
}

// What a script printed is text, also where it is a number.
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^\s*-?\d{1,15}(?:\.\d{1,10})?\s*$/.test(value)) return undefined;
  return Number(value);
}

/** Scores over time: the runs that were scored, oldest first, and for each score its values. */
export interface ScoreSeries {
  /** When each evaluation ended; seconds since 1970. */
  readonly at: readonly number[];
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

/** The scores of runs as series. */
export function scoreSeries(runs: readonly Run[]): ScoreSeries {
  const scored = runs
    .flatMap(({ scoring }) =>
      scoring?.endedAt === undefined
        ? []
        : [{ at: Date.parse(scoring.endedAt) / 1_000, scores: scoresOf(scoring) }],
    )
    .filter(({ scores }) => scores.size > 0)
    .toSorted((left, right) => left.at - right.at);
  const names = [...new Set(scored.flatMap(({ scores }) => [...scores.keys()]))].slice(0, mostScores);
  return {
    at: scored.map(({ at }) => at),
    lines: names.map((name) => ({ name, values: scored.map(({ scores }) => scores.get(name) ?? null) })),
  };
}
