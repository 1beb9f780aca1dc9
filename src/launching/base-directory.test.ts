import { expect, it } from 'vitest';
import { baseDirectory } from './base-directory.ts';

it.each([
  ['/shop', undefined],
  ['/shop/packages/api', undefined],
  ['/shop/.stemma/worktrees/run_1', '/shop/.stemma/worktrees/run_1'],
  ['/shopping', '/shopping'],
  ['/elsewhere', '/elsewhere'],
  ['/', '/'],
])('the files of an agent in %s are those of %s', (cwd, base) => {
  expect(baseDirectory(cwd, { configDirectory: '/shop', dataDir: '/shop/.stemma' })).toBe(base);
});
