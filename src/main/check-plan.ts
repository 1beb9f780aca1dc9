import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { acpDriver } from '../drivers/acp/driver.ts';
import type { CheckOptions } from '../drivers/conformance/check-driver.ts';
import { demoCheck } from '../drivers/demo/conformance-script.ts';
import type { AgentProfile, Driver } from '../drivers/port.ts';
import { anyScriptPrompts, scriptCheck } from '../drivers/script/script-check.ts';
import { forgetConversations } from './check-claude.ts';
import { separateCodex } from './check-codex.ts';
import { forgetScreens } from './check-terminal.ts';

/** An agent to be checked. */
export interface CheckedAgent {
  readonly profile: AgentProfile;
  readonly driver: Driver;
  /** Whether it is one of the profiles that are always there, which are checked with programs that can do everything. */
  readonly isBuiltIn: boolean;
}

/** What the cases of one agent run with. */
export interface CheckPlan {
  readonly options: Pick<
    CheckOptions,
    'driver' | 'profile' | 'prompts' | 'faulty' | 'directory' | 'patienceMs'
  >;
  /** Removes everything that the cases left. Call it once, when no case runs any more. */
  cleanUp(): Promise<void>;
}

/** How long the demo agent may take to open; it takes a fraction of a second. Milliseconds. */
const demoOpeningMs = 10_000;
/** How long a scripted program may take for anything. Milliseconds. */
const scriptedPatienceMs = 30_000;

/**
 * Makes a directory for the cases and says what they run with. `self`: program and arguments that start this program. `cwd`: where
 * the person is who checks; an agent at its own screen works below it, since it works only where somebody trusts it.
 */
export async function planCheck(
  agent: CheckedAgent,
  self: readonly string[],
  cwd: string,
): Promise<CheckPlan> {
  const isAtScreen = agent.driver.kind === 'terminal';
  const root = await mkdtemp(isAtScreen ? join(cwd, '.stemma-check-') : join(tmpdir(), 'stemma-check-'));
  const directory = join(root, 'cases');
  const cleanUp = (): Promise<void> => rm(root, { recursive: true, force: true, maxRetries: 3 });
  const { driver, profile } = agent;
  if (agent.isBuiltIn && profile.name === 'demo') {
    const profileFor = (script: string): AgentProfile => ({
      ...profile,
      command: [...self, 'demo-agent', '--script', script],
      env: { STEMMA_DEMO_HOME: root },
    });
    const quick = acpDriver({ clock: systemClock, openingMs: demoOpeningMs });
    const patienceMs = scriptedPatienceMs;
    return { options: { driver: quick, ...demoCheck(root, profileFor), directory, patienceMs }, cleanUp };
  }
  if (agent.isBuiltIn && profile.name === 'script') {
    const { command, prompts } = scriptCheck;
    const patienceMs = scriptedPatienceMs;
    return { options: { driver, profile: { ...profile, command }, prompts, directory, patienceMs }, cleanUp };
  }
  if (driver.kind === 'script')
    return { options: { driver, profile, prompts: anyScriptPrompts, directory }, cleanUp };
  if (driver.kind === 'claude') {
    const forget = (): Promise<void> => forgetConversations(profile, directory);
    return { options: { driver, profile, directory }, cleanUp: both(forget, cleanUp) };
  }
  if (isAtScreen) {
    const forget = (): Promise<void> => forgetScreens(profile, root, directory);
    return { options: { driver, profile, directory }, cleanUp: both(forget, cleanUp) };
  }
  if (driver.kind !== 'codex') return { options: { driver, profile, directory }, cleanUp };
  const codex = separateCodex(profile, directory);
  return { options: { driver, profile: codex.profile, directory }, cleanUp: both(codex.cleanUp, cleanUp) };
}

/** Both, in this order; the second also when the first fails. */
function both(first: () => Promise<void>, second: () => Promise<void>): () => Promise<void> {
  return async () => {
    try {
      await first();
    } finally {
      await second();
    }
  };
}
