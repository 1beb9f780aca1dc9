import { defineConfig } from 'vitest/config';

/** The page in a real Chromium. Without one, its tests are skipped, and say so. */
export default defineConfig({
  test: { include: ['test/page/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
