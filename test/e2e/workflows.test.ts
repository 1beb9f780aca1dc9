import { afterAll, beforeAll, describe } from 'vitest';
import { Bench } from './bench.ts';
import { scenarios } from './scenario.ts';
import { launcherAgent, workflowFiles } from './workflow-files.ts';
import { workflowCases } from './workflows.cases.ts';

/* One server serves all of it at the same time, each in a place of its own. */

let bench: Bench;

beforeAll(async () => {
  bench = await Bench.open({ worker: launcherAgent }, workflowFiles);
}, 180_000);

afterAll(() => bench.close(), 180_000);

describe.concurrent('workflows', () => workflowCases(scenarios(() => bench)));
