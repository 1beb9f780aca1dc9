import type { StepSurroundings } from '../../src/runs/ports.ts';
import { stepData } from '../../src/step-data/step-data.ts';
import { noRecords } from '../workflows/no-records.ts';
import type { Flows } from './flows.ts';

/** What the steps of simulated workflows find around them: texts as they are written, and every directory. */
export function simulatedSurroundings(tells: StepSurroundings['tells'], flows: Flows): StepSurroundings {
  return {
    node: 'local',
    tells,
    texts: {
      fill: async (_, text) => ({ ok: true, text }),
      holds: async (_, condition) => ({ ok: true, value: condition !== 'false' }),
      environment: async (_, env) => ({ ok: true, env }),
    },
    workflows: {
      // A group of a workflow is made up under its own name.
      define: async ({ workflow, group }) => {
        const call = flows.call(group ?? workflow);
        return {
          ok: true,
          value: { project: 'default', name: workflow, call, isEvaluation: false, agents: [] },
        };
      },
    },
    isDirectory: async () => true,
    mostScripts: 16,
    data: stepData,
    records: noRecords,
  };
}
