import { opencodeKit } from './opencode-kit.ts';
import { sequenceCases } from './sequence-cases.ts';

sequenceCases(opencodeKit, { steers: true });
