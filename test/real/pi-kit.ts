import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { piDriver } from '../../src/drivers/pi/driver.ts';
import { commandOf, processesWithEnvironment } from '../e2e/living-processes.ts';
import type { AgentBench } from './agent-bench.ts';
import { type AgentKit, endRecorded, findProgram } from './kit.ts';

/** pi against the scripted model, with a home of its own. */
export const piKit: AgentKit = {
  name: 'pi',
  driver: () => piDriver({ clock: systemClock }),
  profile(program, directory, model) {
    writePiHome(join(directory, 'home'), model.url);
    return {
      driver: 'pi',
      command: [program],
      model: 'scripted/scripted',
      home: join(directory, 'home'),
      env: { HOME: directory },
      sandbox: 'full',
    };
  },
  // Its agents outlive whoever talked to them, as they should: a test that has seen enough leaves them.
  cleanUp: endRecorded,
  cannot: {
    question: 'pi asks nobody for a permission',
    questionAdopted: 'pi asks nobody for a permission',
  },
};

/** Stops a bench, and makes sure that nothing which ran in its directory outlives it. */
export async function stopWhole(bench: AgentBench): Promise<void> {
  await bench.stop();
  const left = processesWithEnvironment(bench.directory).map(commandOf);
  if (left.length > 0) throw new Error(`these processes of the bench are left:\n${left.join('\n')}`);
}

/** The program under test, or undefined after saying how to get it. */
export function findPi(): string | undefined {
  return findProgram('pi');
}

/** Writes pi's own directory, whose only model is the scripted one and whose retries come soon. */
export function writePiHome(home: string, modelUrl: string): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'models.json'), piModels(modelUrl));
  const retry = { enabled: true, maxRetries: 2, baseDelayMs: 300, provider: { maxRetries: 0 } };
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ retry }));
}

/** The models of a pi whose only model is the scripted one. */
export function piModels(url: string): string {
  const model = {
    id: 'scripted',
    name: 'scripted',
    reasoning: false,
    input: ['text'],
    contextWindow: 100_000,
    maxTokens: 4000,
    cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
    // The conversation's id goes along, by which the scripted model keeps conversations apart.
    compat: { sendSessionAffinityHeaders: true },
  };
  const provider = { baseUrl: url, api: 'openai-completions', apiKey: 'x', models: [model] };
  return JSON.stringify({ providers: { scripted: provider } });
}
