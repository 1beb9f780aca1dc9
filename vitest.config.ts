import { defineConfig } from 'vitest/config';

/** Suites that start many processes and take minutes; `npm run test:processes` and CI run them. */
export const processSuites = [
  'src/drivers/acp/{adoption,driver}.test.ts',
  'src/drivers/conformance/check-driver.test.ts',
  'src/drivers/demo/demo-agent.test.ts',
  'src/drivers/script/script-driver.test.ts',
  'src/processes/**/*.test.ts',
  'src/store/sqlite/trouble.test.ts',
  'src/cli/process.test.ts',
  'src/main/*.test.ts',
];

/** `npm test`: hermetic, and under a minute. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/real/**', 'node_modules/**', 'dist/**', ...processSuites],
    testTimeout: 20_000,
  },
});
