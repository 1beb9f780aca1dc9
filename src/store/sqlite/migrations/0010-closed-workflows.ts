/** What a session has had done, the latest first: few rows are of this kind, so the others cost nothing. */
export const closedWorkflowsSchema = `
CREATE INDEX executions_closed_workflows ON executions (reports_to, closed_at, id)
  WHERE closed = 1 AND kind = 'workflow' AND reports_to IS NOT NULL;
`;
