import { piKit } from './pi-kit.ts';
import { sequenceCases } from './sequence-cases.ts';

sequenceCases(piKit, { steers: true, busySeconds: 20, patienceMs: 150_000 });
