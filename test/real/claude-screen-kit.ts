import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { terminalDriver } from '../../src/drivers/terminal/driver.ts';
import { TerminalOrder } from '../../src/terminal/terminal-order.ts';
import { TmuxTerminals } from '../../src/terminal/tmux-terminals.ts';
import type { AgentKit } from './kit.ts';

const key = 'sk-scripted-key-0000';

/** Claude Code at its own screen, on the scripted model: a home in which all that it asks at its first start is answered. */
export const claudeScreenKit: AgentKit = {
  name: 'claude-screen',
  program: 'claude',
  driver: () => terminalDriver({ clock: systemClock, order: new TerminalOrder() }),
  profile(program, directory, model) {
    const home = join(directory, 'home');
    mkdirSync(home, { recursive: true });
    // Where a bench works, and below which the cases of the conformance suite do.
    const trusted = [join(directory, 'work'), directory, join(directory, 'cases')];
    const answered = {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
      projects: Object.fromEntries(trusted.map((path) => [path, { hasTrustDialogAccepted: true }])),
      bypassPermissionsModeAccepted: true,
    };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(answered));
    return {
      driver: 'terminal',
      command: [program],
      home,
      env: {
        HOME: directory,
        ANTHROPIC_BASE_URL: model.url.replace(/\/v1$/, ''),
        ANTHROPIC_API_KEY: key,
        CLAUDE_CODE_MAX_RETRIES: '1',
      },
      sandbox: 'full',
    };
  },
  cannot: {
    question: 'its questions are answered at its screen, by a person',
    questionAdopted: 'its questions are answered at its screen, by a person',
  },
  async cleanUp(directory) {
    const report = (): void => undefined;
    const order = new TerminalOrder();
    await new TmuxTerminals({ clock: systemClock, dataDir: directory, order, report }).reap(new Set());
  },
};
