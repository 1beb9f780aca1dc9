import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run } from '../../src/contract/run.ts';
import { type RunningServer, startServer } from './server-process.ts';
import { waitFor } from './wait-for.ts';

const examples = join(import.meta.dirname, '../../examples/stemma-workflows.yaml');

/** One server, with what it was given to run. */
class Place {
  readonly directory = mkdtempSync(join(tmpdir(), 'stemma-examples-'));
  #server: RunningServer | undefined;

  async open(configFile: string): Promise<void> {
    const dataDir = join(this.directory, 'data');
    mkdirSync(dataDir);
    const env = { STEMMA_DEMO_HOME: join(this.directory, 'demo-home') };
    const started = await startServer({ dataDir, configFile, env });
    if (!('ready' in started)) throw new Error(`the server did not start: ${started.stderr}`);
    this.#server = started;
  }

  /** Runs a workflow to its end. */
  async run(name: string, inputs: Record<string, string> = {}): Promise<Run> {
    const client = this.#server?.client;
    if (!client) throw new Error('no server runs');
    const { runId } = await client.call('runWorkflow', { id: name, body: { inputs } });
    let seen: Run | undefined;
    return waitFor(
      `${name} ends`,
      async () => {
        seen = await client.call('getRun', { id: runId });
        return seen.state === 'ended' && seen;
      },
      { withinMs: 90_000, everyMs: 200, seen: () => seen },
    );
  }

  async close(): Promise<void> {
    await this.#server?.process.signal('SIGUSR2');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const states = (run: Run) => run.workflow?.steps.map(({ name, state }) => `${name} ${state}`);

describe.concurrent('the examples of workflows, with the demo agent', () => {
  const place = new Place();
  beforeAll(() => place.open(examples), 180_000);
  afterAll(() => place.close(), 60_000);

  it('look after a repository: three repairs are given out, and their results come back at once', async () => {
    const run = await place.run('nightly-care', { day: '2027-03-28' });
    expect(states(run)).toEqual(
      ['fetch', 'look', 'repair', 'validate', 'review'].map((name) => `${name} succeeded`),
    );
    expect(run.outcome).toBe('succeeded');
    expect(run.workflow?.steps.at(-1)?.result).toBe(
      'The night of 2027-03-28: three repairs, nothing is left.',
    );
  }, 120_000);

  it('write a document, row by row', async () => {
    const run = await place.run('documents');
    expect(states(run)).toEqual(['table succeeded', 'write succeeded', 'publish succeeded']);
    expect(run.outcome).toBe('succeeded');
  }, 120_000);

  it('try again what failed, before anything goes on', async () => {
    const run = await place.run('retry');
    expect(run.outcome).toBe('succeeded');
    const summary = run.workflow?.steps[0]?.result;
    expect(summary).toBe(
      'Lint: no problems. Tests: one failure on a busy port, all 118 passed on the second run.',
    );
  }, 120_000);
});

const hostile = `'; touch owned; echo "$(touch owned)" \`touch owned\` && touch owned #\n{{env.HOME}} \\"`;

describe('what is given to a workflow', () => {
  const place = new Place();
  const work = place.directory;
  beforeAll(async () => {
    mkdirSync(join(work, 'workflows'));
    const echo = { driver: 'script', command: ['cat'] };
    writeFileSync(join(work, 'stemma.yaml'), JSON.stringify({ agents: { echo } }));
    const steps = {
      shell: { run: 'printf "%s|%s" "$INPUT_X" "$Y"', env: { Y: '{{inputs.x}}' } },
      program: { run: ['printf', '%s', '{{inputs.x}}'] },
      agent: { agent: 'echo', prompt: '{{inputs.x}}', outputs: { said: { answer: true } } },
      gated: {
        agent: 'echo',
        messages: ['hello', { validate: 'test -n "$INPUT_X"' }],
        outputs: { seen: { command: 'printf "%s" "$INPUT_X"' } },
      },
      after: { needs: ['agent'], run: 'printf "%s" "$SAID"', env: { SAID: '{{steps.agent.outputs.said}}' } },
    };
    writeFileSync(join(work, 'workflows/hostile.yaml'), JSON.stringify({ inputs: { x: {} }, steps }));
    await place.open(join(work, 'stemma.yaml'));
  }, 180_000);
  afterAll(() => place.close(), 60_000);

  it('reaches every step as it is, and no shell ever as a command', async () => {
    const run = await place.run('hostile', { x: hostile });
    const results = Object.fromEntries(run.workflow?.steps.map(({ name, result }) => [name, result]) ?? []);
    expect(run.outcome, JSON.stringify(results)).toBe('succeeded');
    expect(results['shell']).toBe(`${hostile}|${hostile}`);
    expect(results['program']).toBe(hostile);
    expect(run.workflow?.steps.find(({ name }) => name === 'gated')?.outputs).toEqual({ seen: hostile });
    expect(results['after']).toContain('touch owned');
    expect(existsSync(join(work, 'owned'))).toBe(false);
  }, 120_000);
});
