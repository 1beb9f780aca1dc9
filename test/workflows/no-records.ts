import type { RunRecords } from '../../src/runs/step-ports.ts';

/** A disk on which nothing is kept. */
export const noRecords: RunRecords = {
  directory: (id) => `/records/${id}`,
  attemptDirectory: ({ workflowId, step, attempt }) => `/records/${workflowId}/steps/${step}/${attempt}`,
  files: async () => [],
  begin: async () => undefined,
  keepFile: async (_place, _name, file) => file.path,
  writeAttempt: async () => undefined,
  end: async () => undefined,
};
