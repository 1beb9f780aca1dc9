import { opencodeKit } from './opencode-kit.ts';
import { sequenceCases } from './sequence-cases.ts';

// Each background agent is a program of its own, which takes seconds to come up.
sequenceCases(opencodeKit, { steers: true, busySeconds: 20, patienceMs: 150_000 });
