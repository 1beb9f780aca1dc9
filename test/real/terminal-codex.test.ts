import { codexKit } from './codex-kit.ts';
import { terminalCases } from './terminal-cases.ts';

terminalCases(codexKit, { joinsTurns: true, hasTasks: true });
