/** What messages may use, and what was used: by a turn, and at and below an execution. */
export const spendingSchema = `
ALTER TABLE executions ADD COLUMN budget TEXT;
ALTER TABLE executions ADD COLUMN spent TEXT;
ALTER TABLE turns ADD COLUMN usage TEXT;
`;
