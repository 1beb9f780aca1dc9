import { test } from 'vitest';
import type { Bench } from './bench.ts';
import type { Scene } from './scene.ts';

/** One test on the shared server, at the same time as others. */
export type Scenario = (name: string, body: (scene: Scene) => Promise<void>) => void;

/** The words of a file of tests. `alone`: with sessions that nobody used before, and nobody will use again. */
export interface Scenarios {
  readonly scenario: Scenario;
  readonly alone: Scenario;
}

/** Makes the words; `bench` is asked when a test begins. */
export function scenarios(bench: () => Bench): Scenarios {
  return { scenario: scenarioOf(bench, false), alone: scenarioOf(bench, true) };
}

function scenarioOf(bench: () => Bench, fresh: boolean): Scenario {
  return (name, body) => {
    test.concurrent(name, { timeout: 180_000 }, async () => {
      const scene = bench().scene(fresh);
      let isWell = false;
      try {
        await body(scene);
        isWell = true;
      } finally {
        await scene.close({ keep: isWell && !fresh });
      }
    });
  };
}
