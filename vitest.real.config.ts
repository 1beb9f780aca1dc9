import { defineConfig } from 'vitest/config';

/** Tests against real agent programs. They are slow, mostly wait, and each has a place of its own: two files at a time. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Programs of others on a shared machine: what fails twice is a fault, what fails once is told as a retry.
    retry: 1,
  },
});
