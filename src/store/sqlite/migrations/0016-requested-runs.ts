/** The request that let a run begin again last. */
export const requestedRunsSchema = `
ALTER TABLE runs ADD COLUMN begun_by TEXT;
`;
