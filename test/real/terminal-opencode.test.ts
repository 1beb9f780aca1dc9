import { opencodeKit } from './opencode-kit.ts';
import { terminalCases } from './terminal-cases.ts';

// It takes seconds to come up, and more on a busy machine.
terminalCases(opencodeKit, { joinsTurns: true, hasTasks: false, patienceMs: 120_000 });
