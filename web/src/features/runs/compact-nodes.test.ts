import { expect, test } from 'vitest';
import type { Execution } from '../../../../src/contract/execution.ts';
import { growForest, type TreeNode } from '../../../../src/words/forest.ts';
import { shownNodes } from './compact-nodes.ts';

const execution = (id: string, parentId: string | null, closed = true): Execution => ({
  id,
  rootId: 'root',
  parentId,
  parentSource: 'none',
  kind: 'agent',
  name: id,
  attempt: 1,
  state: closed ? 'succeeded' : 'running',
  open: 0,
  closed,
  createdAt: '2027-01-01T00:00:00.000Z',
});
const forestOf = (...executions: Execution[]): TreeNode[] =>
  growForest({ root: 'root', closed: false, executions, notices: [], holding: [] });
const namesOf = (nodes: readonly TreeNode[]): string[] =>
  nodes.flatMap(({ execution: { id }, children }) => [id, ...namesOf(children)]);

test('a small tree is shown whole', () => {
  const forest = forestOf(execution('root', null), execution('a', 'root'), execution('a1', 'a'));
  expect(namesOf(shownNodes(forest).nodes)).toEqual(['root', 'a', 'a1']);
  expect(shownNodes(forest).left).toBe(0);
});

test('of a large one what is high up and what is at work', () => {
  const many = Array.from({ length: 10 }, (_, n) => execution(`c${n}`, 'root'));
  const forest = forestOf(
    execution('root', null),
    ...many,
    execution('works', 'root', false),
    execution('deep', 'works'),
  );
  const { nodes, left } = shownNodes(forest, 4);
  expect(namesOf(nodes)).toEqual(['root', 'c0', 'c1', 'works']);
  expect(left).toBe(9);
});
