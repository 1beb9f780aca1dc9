import { afterEach, describe, expect, it } from 'vitest';
import { commandOf, processesWithEnvironment } from '../e2e/living-processes.ts';
import { waitFor } from '../e2e/wait-for.ts';
import type { Rule } from '../model/prompt-script.ts';
import { AgentServer } from './agent-server.ts';
import { claudeKit } from './claude-kit.ts';
import { findProgram } from './kit.ts';

const program = findProgram(claudeKit.name);
const rules: Rule[] = [{ when: '\\[stemma ntc_\\S+ #\\d+\\] child succeeded', steps: '[[say handled]]' }];
const launch = JSON.stringify({ name: 'child', instruction: 'MARK-CHILD [[say child done]]' });
const message = `MARK-PARENT [[tool run_in_background ${launch}]] [[say launched]]`;

describe.skipIf(!program)(
  'kill -9 of the server around the end of a hosted Claude',
  { timeout: 120_000 },
  () => {
    let server: AgentServer | undefined;
    afterEach(async () => {
      await server?.stop();
      server = undefined;
    });

    /** The conversations that have a living process. */
    const living = (): string[] =>
      processesWithEnvironment(server?.directory ?? '').flatMap(
        (pid) => /stream-json.*--(?:session-id|resume) (\S+)/.exec(commandOf(pid))?.[1] ?? [],
      );

    it.each(['agent.ending:1', 'agent.ended:1'])('leaves none of its processes behind: %s', async (fault) => {
      server = await AgentServer.start(claudeKit, program ?? '', rules);
      await server.kill();
      await server.up(fault);
      const runId = await server.run([message]);
      expect(await server.died(60_000)).toBe(true);
      await server.up();
      expect(await server.ended(runId, 60_000)).toMatchObject({ outcome: 'succeeded' });
      await waitFor('only the conversation of the run has a process', () => living().length <= 1, {
        withinMs: 20_000,
        seen: living,
      });
    });
  },
);
