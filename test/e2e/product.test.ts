import { afterAll, beforeAll, describe } from 'vitest';
import { attemptCases } from './attempts.cases.ts';
import { Bench } from './bench.ts';
import { budgetCases } from './budget.cases.ts';
import { hostileCases } from './hostile.cases.ts';
import { idleAgents, idleCases } from './idle.cases.ts';
import { identityCases } from './identity.cases.ts';
import { noticeCases } from './notices.cases.ts';
import { occurrenceCases, occurrenceAgents } from './occurrences.cases.ts';
import { scenarios } from './scenario.ts';
import { scheduleAgents, scheduleCases } from './schedules.cases.ts';
import { stoppingCases } from './stopping.cases.ts';
import { treeCases } from './trees.cases.ts';
import { brokenAgents, turnEndCases } from './turn-ends.cases.ts';
import { waitingAgents, waitingCases } from './waiting.cases.ts';
import { worker } from './worker.ts';

/*
 * Everything here runs at the same time: most of it waits for processes to start. One server serves the scenarios, each in
 * a place of its own. What starts and kills servers is in `servers.test.ts`.
 */

let bench: Bench;

beforeAll(async () => {
  bench = await Bench.open({
    worker,
    ...brokenAgents,
    ...waitingAgents,
    ...idleAgents,
    ...scheduleAgents,
    ...occurrenceAgents,
  });
}, 180_000);

afterAll(() => bench.close(), 180_000);

const words = scenarios(() => bench);

describe.concurrent('the product', () => {
  // The longest ones first.
  stoppingCases(words);
  turnEndCases(words);
  noticeCases(words);
  identityCases(words);
  hostileCases(words);
  attemptCases(words);
  occurrenceCases(words);
  treeCases(words);
  budgetCases(words);
  waitingCases(words);
  idleCases(words);
  scheduleCases(words);
});
