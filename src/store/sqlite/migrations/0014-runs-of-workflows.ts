/** The runs of a workflow are found by its name, which the plan of the run has. */
export const runsOfWorkflowsSchema = `
CREATE INDEX runs_workflow ON runs (plan ->> '$[0].workflow.workflow', id);
`;
