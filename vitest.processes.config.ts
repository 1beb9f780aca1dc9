import { defineConfig } from 'vitest/config';
import { processSuites } from './vitest.config.ts';

/** Real processes, killed and adopted: slower than `npm test`, and just as hermetic. */
export default defineConfig({
  test: { include: processSuites, testTimeout: 60_000, hookTimeout: 60_000 },
});
