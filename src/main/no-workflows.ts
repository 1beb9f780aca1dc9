import type { WorkflowSource } from '../workflows/port.ts';

/** A server that reads no workflow files has none. */
export const noWorkflows: WorkflowSource = {
  list: async () => [],
  define: async ({ workflow }) => ({
    ok: false,
    code: 'NOT_FOUND',
    message: `There is no workflow "${workflow}"; this server reads no workflow files.`,
    data: { id: workflow },
  }),
};
