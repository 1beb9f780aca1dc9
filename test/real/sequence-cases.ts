import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TreeView } from '../../src/contract/execution.ts';
import type { Run } from '../../src/contract/run.ts';
import type { Rule } from '../model/prompt-script.ts';
import { AgentServer } from './agent-server.ts';
import { type AgentKit, findProgram } from './kit.ts';
import { firstHeard } from './model-log.ts';

const background = (name: string, instruction: string): string =>
  `[[tool run_in_background ${JSON.stringify({ name, instruction })}]]`;

const rules: Rule[] = [
  {
    when: '\\[stemma ntc_\\S+ #\\d+\\] tests failed',
    steps: `${background('tests', 'Second try. [[slow 1 all green]]')} [[say started again]]`,
  },
  { when: '\\[stemma ntc_\\S+ #\\d+\\] (\\w+) succeeded', steps: '[[say handled $1]]' },
];
const first = `Run the checks. ${background('lint', 'Lint it. [[slow 2 lint is clean]]')} ${background('tests', 'Test it. [[fail 400]]')} [[say both started]]`;

/**
 * The mission's main case against a real agent program: launches, a failure, a retry from the continuation that handles it,
 * and the next message only after all of them closed, asserted from the log of the model's server.
 */
export function sequenceCases(kit: AgentKit, pace: SequencePace): void {
  const program = findProgram(kit.name);
  sequence(kit, program, pace);
  if (pace.steers) steering(kit, program, pace);
}

/** What the agent can, and how long it takes for it. */
export interface SequencePace {
  readonly steers: boolean;
  /** How long a turn lasts in which a background agent starts and fails. Seconds, default 4. */
  readonly busySeconds?: number;
  /** Milliseconds in which a run ends, default a minute. */
  readonly patienceMs?: number;
}

function sequence(kit: AgentKit, program: string | undefined, { patienceMs = 60_000 }: SequencePace): void {
  describe.skipIf(!program)(`a sequence on the real ${kit.name}`, () => {
    let server: AgentServer;
    let run: Run;
    let trees: TreeView[];

    beforeAll(async () => {
      server = await AgentServer.start(kit, program ?? '', rules);
      const runId = await server.run([first, 'Summarise. [[say all is well]]']);
      run = await server.ended(runId, patienceMs);
      trees = await server.trees(run);
    }, patienceMs + 20_000);
    afterAll(() => server?.stop());

    test('ends well, each message once', () => {
      expect(run.outcome).toBe('succeeded');
      expect(
        server.model.log.filter((e) => e.type === 'request' && e.userTexts.at(-1)?.startsWith('Summarise.'))
          .length,
      ).toBe(1);
    });

    test('a failed child is retried from the continuation that handles it, under the same root', () => {
      const tree = trees[0]!;
      const agents = tree.executions.filter((row) => row.kind === 'agent');
      expect(agents.map((row) => [row.name, row.attempt, row.state])).toEqual([
        ['lint', 1, 'succeeded'],
        ['tests', 1, 'failed'],
        ['tests', 2, 'succeeded'],
      ]);
      const retry = agents[2]!;
      const continuation = tree.executions.find((row) => row.id === retry.parentId);
      expect(continuation?.kind).toBe('continuation');
      expect(retry.parentSource).toBe('turn');
      expect(tree.notices.map((notice) => notice.state)).toEqual(['handled', 'handled', 'handled']);
    });

    test('the next message reaches the model only after every result was handled', () => {
      const next = firstHeard(server.model, 'Summarise.');
      const results = server.model.log.flatMap((event, index) =>
        event.type === 'request' && /\[stemma ntc_\S+ #\d+\]/.test(event.userTexts.at(-1) ?? '')
          ? [index]
          : [],
      );
      expect(results.length).toBeGreaterThanOrEqual(3);
      expect(next).toBeGreaterThan(Math.max(...results));
      const before = server.model.log.slice(0, next);
      const opened = before.filter((event) => event.type === 'request').map((event) => event.number);
      const closed = before.filter((event) => event.type === 'ended').map((event) => event.number);
      expect(opened.filter((number) => !closed.includes(number))).toEqual([]);
    });
  });
}

function steering(kit: AgentKit, program: string | undefined, pace: SequencePace): void {
  const { busySeconds = 4, patienceMs = 60_000 } = pace;
  describe.skipIf(!program)(`steering the real ${kit.name}`, () => {
    let server: AgentServer;
    beforeAll(async () => {
      server = await AgentServer.start(kit, program ?? '', [
        {
          when: '\\[stemma ntc_\\S+ #\\d+\\] quick failed',
          steps: `${background('quick', 'Again. [[slow 2 now it works]]')} [[say retrying]]`,
        },
        { when: '\\[stemma ntc_\\S+ #\\d+\\] (\\w+) succeeded', steps: '[[say handled $1]]' },
      ]);
    });
    afterAll(() => server?.stop());

    test(
      'a failed child steered into a busy agent: its continuation joins the turn, and the sequence waits for the retry',
      async () => {
        const busy = `Work. ${background('quick', 'Quick. [[fail 400]]')} [[shell sleep ${busySeconds}]] [[say done]]`;
        const run = await server.ended(await server.run([busy, 'Next. [[say next]]']), patienceMs);
        expect(run.outcome).toBe('succeeded');
        const [tree] = await server.trees(run);
        const continuation = tree!.executions.find((row) => row.kind === 'continuation');
        const message = tree!.executions.find((row) => row.id === tree!.root);
        // Both owned one turn: they settled at the same boundary.
        expect(continuation?.endedAt).toBe(message?.endedAt);
        const retry = tree!.executions.find((row) => row.kind === 'agent' && row.attempt === 2);
        expect(retry?.state).toBe('succeeded');
        // The turn's primary owner is the message; the continuation holds the retry open with it.
        expect(retry?.parentId).toBe(tree!.root);
        expect(firstHeard(server.model, 'Next.')).toBeGreaterThan(
          firstHeard(server.model, 'quick succeeded'),
        );
      },
      patienceMs + 20_000,
    );
  });
}
