import { defineConfig } from 'vitest/config';

/** The page in a real Chromium. Without one, its tests are skipped, and say so. */
export default defineConfig({
  test: {
    // A browser on a shared machine: what fails twice is a fault.
    retry: 1,
    include: ['test/page/**/*.test.ts'],
    globalSetup: ['test/page/build.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
