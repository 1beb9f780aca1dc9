import { defineConfig } from 'vitest/config';
import { processSuites } from './vitest.config.ts';

/** Real processes, killed and adopted: slower than `npm test`, and just as hermetic. */
export default defineConfig({
  test: {
    include: processSuites,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Hundreds of processes on a shared machine: what fails twice is a fault, what fails once is told as a retry.
    retry: 1,
  },
});
