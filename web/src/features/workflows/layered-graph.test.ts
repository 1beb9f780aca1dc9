import { expect, test } from 'vitest';
import { layoutGraph, neighbourOf } from './layered-graph.ts';

const step = (name: string, ...needs: string[]) => ({ name, needs });
const diamond = [step('a'), step('b', 'a'), step('c', 'a'), step('d', 'b', 'c')];

test('each step stands right of all that it needs', () => {
  const { nodes, edges } = layoutGraph(diamond);
  const layer = new Map(nodes.map((node) => [node.name, node.layer]));
  expect(['a', 'b', 'c', 'd'].map((name) => layer.get(name))).toEqual([0, 1, 1, 2]);
  for (const { from, to } of edges) expect(layer.get(from)).toBeLessThan(layer.get(to) ?? 0);
  expect(edges).toHaveLength(4);
});

test('no two steps stand in one place, and all are within the picture', () => {
  const many = Array.from({ length: 40 }, (_, n) =>
    step(`s${n}`, ...(n < 5 ? [] : [`s${n % 5}`, `s${n - 3}`])),
  );
  const { nodes, width, height } = layoutGraph(many);
  expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(40);
  for (const { x, y } of nodes) {
    expect(x).toBeLessThan(width);
    expect(y).toBeLessThan(height);
    expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
  }
});

test('lines that need not cross do not', () => {
  const { nodes } = layoutGraph([step('a'), step('b'), step('of-b', 'b'), step('of-a', 'a')]);
  const y = (name: string): number => nodes.find((node) => node.name === name)?.y ?? 0;
  expect(y('a') < y('b')).toBe(y('of-a') < y('of-b'));
});

test('an edge over a layer passes between its steps, not through one', () => {
  const { nodes, edges } = layoutGraph([step('a'), step('b', 'a'), step('c', 'a', 'b')]);
  const long = edges.find(({ from, to }) => from === 'a' && to === 'c');
  const { y = 0 } = nodes.find(({ name }) => name === 'b') ?? {};
  expect(long?.path).toMatch(/^M148 /);
  const through = /H(\d+)C|C[\d. -]+ ([\d.]+)H/.exec(long?.path ?? '');
  expect(through).not.toBeNull();
  expect(long?.path.includes(` ${y + 20}H`)).toBe(false);
});

test('what is needed and not there, and what needs itself, does no harm', () => {
  const { nodes, edges } = layoutGraph([step('a', 'gone'), step('b', 'c'), step('c', 'b'), step('d', 'd')]);
  expect(nodes).toHaveLength(4);
  expect(edges.every(({ from }) => from !== 'gone')).toBe(true);
  expect(layoutGraph([]).nodes).toEqual([]);
});

test('arrow keys go to what is beside a step', () => {
  const layout = layoutGraph(diamond);
  expect(neighbourOf(layout, 'a', 'ArrowRight')).toMatch(/[bc]/);
  expect(neighbourOf(layout, 'd', 'ArrowLeft')).toMatch(/[bc]/);
  expect(neighbourOf(layout, 'b', 'ArrowDown')).toBe('c');
  expect(neighbourOf(layout, 'b', 'ArrowUp')).toBeUndefined();
  expect(neighbourOf(layout, 'a', 'ArrowLeft')).toBeUndefined();
});
