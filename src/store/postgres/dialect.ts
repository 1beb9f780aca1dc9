import type { Dialect } from '../sql/dialect.ts';

/** How PostgreSQL says it. What is inside of a document has a column of its own (see the schema). */
export const postgresDialect: Dialect = {
  ids: (sql) => `SELECT coalesce(json_agg(listed.id), '[]') FROM (${sql}) AS listed`,
  given: 'json_array_elements_text(?::json) AS given (value)',
  // It has no limit within the walk, but walks no further than it is read.
  walk: ({ from, step, limit }) => `
    WITH RECURSIVE walked (id) AS (${from} UNION ALL ${step('walked')}),
    below AS (SELECT id FROM walked LIMIT ${limit})`,
  fields: {
    stepName: 'step_name',
    stepDoes: 'step_does',
    runWorkflow: 'workflow',
    tokens:
      "coalesce((usage::json ->> 'inputTokens')::BIGINT, 0) + coalesce((usage::json ->> 'outputTokens')::BIGINT, 0)",
    hasLabel:
      'EXISTS (SELECT 1 FROM json_array_elements_text(labels::json) AS label (value) WHERE label.value = ?)',
  },
};

/**
 * A shared statement as PostgreSQL reads it: parameters are numbered, the other database's hints are left out, and a parameter
 * of which only its being there is asked gets a type.
 */
export function translated(sql: string): string {
  let plain = 0;
  const parts = sql.split(/('(?:[^']|'')*')/);
  return parts.map((part, i) => (i % 2 === 1 ? part : unquoted(part, () => ++plain))).join('');
}

function unquoted(sql: string, next: () => number): string {
  return sql
    .replaceAll(/\bINDEXED BY \w+/g, '')
    .replaceAll(/\bCROSS JOIN\b/g, 'JOIN')
    .replaceAll(/\?(\d*)/g, (_, given: string) => `$${given === '' ? next() : given}`)
    .replaceAll(/\$(\d+) IS NULL/g, '$$$1::TEXT IS NULL');
}

/** The tables that a statement names. */
export function tablesIn(sql: string): ReadonlySet<string> {
  const named = sql.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/gi);
  return new Set(Array.from(named, ([, table]) => table ?? ''));
}
