import { claudeScreenKit } from './claude-screen-kit.ts';
import { terminalCases } from './terminal-cases.ts';

terminalCases(claudeScreenKit, { joinsTurns: true, hasTasks: true, typesOurs: true });
