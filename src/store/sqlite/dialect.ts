import type { Dialect } from '../sql/dialect.ts';

/** How SQLite says it. One JSON text is the cheapest way for many rows out of both libraries. */
export const sqliteDialect: Dialect = {
  ids: (sql) => `SELECT json_group_array(id) FROM (${sql})`,
  given: 'json_each(?) AS given',
  walk: ({ from, step, limit }) => `
    WITH RECURSIVE below (id) AS (${from} UNION ALL ${step('below')} LIMIT ${limit})`,
  fields: {
    stepName: "plan ->> 'name'",
    stepDoes: "plan ->> '$.does.type'",
    runWorkflow: "plan ->> '$[0].workflow.workflow'",
    tokens: "coalesce(usage ->> 'inputTokens', 0) + coalesce(usage ->> 'outputTokens', 0)",
    hasLabel: "EXISTS (SELECT 1 FROM json_each(definition, '$.labels') AS label WHERE label.value = ?)",
  },
};
