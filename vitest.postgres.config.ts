import { defineConfig } from 'vitest/config';

/** Everything that holds a store to its port, on a PostgreSQL server of the tests' own. */
export default defineConfig({
  test: {
    env: { STEMMA_STORE: 'postgres' },
    include: ['src/store/conformance/*.test.ts', 'test/postgres/*.test.ts', 'test/ledger/sqlite.test.ts'],
    globalSetup: ['test/postgres/setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
