import { afterAll, beforeAll, describe } from 'vitest';
import { Bench } from './bench.ts';
import { scenarios } from './scenario.ts';
import { worker } from './worker.ts';
import { workflowBeginningCases } from './workflow-beginnings.cases.ts';
import { workflowRunCases } from './workflow-runs.cases.ts';
import { workflowShownCases } from './workflow-shown.cases.ts';

/* One server serves all of it at the same time, each in a place of its own. */

let bench: Bench;

beforeAll(async () => {
  bench = await Bench.open({ worker }, {});
}, 180_000);

afterAll(() => bench.close(), 180_000);

describe.concurrent('workflows', () => {
  workflowRunCases(scenarios(() => bench));
  workflowShownCases(scenarios(() => bench));
  workflowBeginningCases(scenarios(() => bench));
});
