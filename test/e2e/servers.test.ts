import { describe } from 'vitest';
import { scheduledServerCases } from './occurrences.cases.ts';
import { restartCases } from './restart.cases.ts';
import { configuredCases } from './schedules.cases.ts';
import { startUpCases } from './start-up.cases.ts';

/* Servers that are started, killed and started again, each with a directory of its own. They run at the same time. */

describe.concurrent('servers', () => {
  // The longest ones first.
  restartCases();
  startUpCases();
  scheduledServerCases();
  configuredCases();
});
