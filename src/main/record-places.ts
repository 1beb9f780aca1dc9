import { join } from 'node:path';
import type { RecordPlaces } from '../application/wire-workflow.ts';

/** Where the records of workflows lie, below a data directory. */
export function recordPlaces(dataDir: string): RecordPlaces {
  const ofWorkflow = (id: string): string => join(dataDir, 'records', id);
  return {
    ofWorkflow,
    ofAttempt: (id, step, attempt) => join(ofWorkflow(id), 'steps', step, String(attempt)),
  };
}
