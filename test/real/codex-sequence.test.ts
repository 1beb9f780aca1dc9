import { codexKit } from './codex-kit.ts';
import { sequenceCases } from './sequence-cases.ts';

sequenceCases(codexKit, { steers: true });
