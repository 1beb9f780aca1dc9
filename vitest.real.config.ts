import { defineConfig } from 'vitest/config';

/** Tests against real agent programs. They are slow, load the machine by themselves, and run one file at a time. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    // Programs of others on a shared machine: what fails three times is a fault, what fails once is told as a retry.
    retry: 2,
  },
});
