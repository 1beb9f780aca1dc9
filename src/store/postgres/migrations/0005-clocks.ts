/** Up to when it is settled how long a clock stood still for slots. */
export const clocksSchema = `
ALTER TABLE executions ADD COLUMN clocked_until BIGINT;
`;
