import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/real/**', 'node_modules/**', 'dist/**'],
    testTimeout: 20_000,
  },
});
