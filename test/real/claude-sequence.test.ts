import { claudeKit } from './claude-kit.ts';
import { sequenceCases } from './sequence-cases.ts';

sequenceCases(claudeKit, { steers: true });
