/** What a starting server goes on with is found whatever the number of steps that have ended. */
export const openScriptsSchema = `
CREATE INDEX graph_steps_scripts ON graph_steps (ref)
  WHERE (state = 'due' OR state = 'running') AND plan ->> '$.does.type' = 'script';
`;
