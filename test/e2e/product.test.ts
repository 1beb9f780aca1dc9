import { afterAll, beforeAll } from 'vitest';
import { Bench } from './bench.ts';
import { identityCases } from './identity.cases.ts';
import { noticeCases } from './notices.cases.ts';
import { scenarios } from './scenario.ts';
import { stoppingCases } from './stopping.cases.ts';
import { treeCases } from './trees.cases.ts';
import { brokenAgents, turnEndCases } from './turn-ends.cases.ts';
import { worker } from './worker.ts';

/* One server for all of these: they run at the same time, each in a place of its own. */

let bench: Bench;

beforeAll(async () => {
  bench = await Bench.open({ worker, ...brokenAgents });
}, 60_000);

afterAll(() => bench.close(), 60_000);

const words = scenarios(() => bench);

stoppingCases(words);
turnEndCases(words);
noticeCases(words);
identityCases(words);
treeCases(words);
