import { defineConfig } from 'vitest/config';

/** Suites that start many processes or live many histories, and take minutes; `npm run test:processes` and CI run them. */
export const processSuites = [
  'src/drivers/acp/{adoption,driver,opening}.test.ts',
  'src/drivers/claude/open.test.ts',
  'src/drivers/conformance/{check-driver,faulty-drivers}.test.ts',
  'src/drivers/demo/demo-agent.test.ts',
  'src/drivers/script/script-driver.test.ts',
  'src/processes/**/*.test.ts',
  'src/store/conformance/histories.test.ts',
  'src/store/sqlite/trouble.test.ts',
  'src/terminal/{mirror,tmux-terminals}.test.ts',
  'src/cli/process.test.ts',
  'src/notify/{command,killed}.test.ts',
  'src/workspaces/*.test.ts',
  'src/main/*.test.ts',
  'test/ledger/{ablation,graph-space}.test.ts',
  'test/e2e/{hostile-agents,many-due,orchestrators,rows,rows-command,servers,workflow-check,workflow-examples,workflow-runs,workflow-scheduled,workflows}.test.ts',
  'test/e2e/killed-*.test.ts',
  'test/schedules/year.test.ts',
  'test/simulation/ablation.test.ts',
];

/** `npm test`: hermetic, and under a minute. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/src/**/*.test.ts'],
    exclude: ['test/real/**', 'test/page/**', 'test/postgres/**', 'node_modules/**', 'dist/**', ...processSuites],
    // Vitest leaves one core alone, which on two cores is half the machine.
    maxWorkers: '100%',
    // One program a worker: tests that fail beside others show that something of ours is shared.
    pool: 'threads',
    isolate: false,
    testTimeout: 60_000,
  },
});
