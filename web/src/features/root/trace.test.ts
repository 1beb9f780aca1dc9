import { expect, test } from 'vitest';
import type { Execution, Notice, TreeView } from '../../../../src/contract/execution.ts';
import { arrowsAmong } from './arrows.ts';
import { traceOf } from './trace.ts';
import { keysAbove, treeMove, visibleRows } from './visible-rows.ts';

const second = (n: number): string => new Date(Date.UTC(2026, 11, 1) + n * 1_000).toISOString();
const ms = (n: number): number => Date.parse(second(n));

const execution = (id: string, parentId: string | null, more: Partial<Execution> = {}): Execution => ({
  id,
  rootId: 'root',
  parentId,
  parentSource: 'explicit',
  kind: 'agent',
  name: id,
  attempt: 1,
  state: 'succeeded',
  open: 0,
  closed: true,
  createdAt: second(0),
  ...more,
});
const notice = (id: string, executionId: string, continuationId?: string): Notice => ({
  id,
  executionId,
  attempt: 0,
  sessionId: 'ses',
  state: continuationId === undefined ? 'owed' : 'handled',
  owedAt: second(5),
  ...(continuationId === undefined ? {} : { continuationId }),
});
const view = (executions: Execution[], more: Partial<TreeView> = {}): TreeView => ({
  root: 'root',
  closed: true,
  executions,
  notices: [],
  holding: [],
  ...more,
});
const small = view(
  [
    execution('root', null, { kind: 'message', closedAt: second(9) }),
    execution('one', 'root', { createdAt: second(1), endedAt: second(4), closedAt: second(6) }),
    execution('one.one', 'one', { createdAt: second(2) }),
    execution('two', 'root', { createdAt: second(3) }),
    execution('handles', 'root', { kind: 'continuation', createdAt: second(6), startedAt: second(7) }),
  ],
  { notices: [notice('ntc', 'one', 'handles'), notice('ntc2', 'two')] },
);

test('rows are depth first, and know what is above and below them', () => {
  const { rows, startsAt, endsAt } = traceOf(small);
  expect(rows.map(({ key, depth, parent, end }) => [key, depth, parent, end])).toEqual([
    ['root', 0, -1, 5],
    ['one', 1, 0, 3],
    ['one.one', 2, 1, 3],
    ['two', 1, 0, 4],
    ['handles', 1, 0, 5],
  ]);
  expect(rows[3]).toMatchObject({ position: 2, siblings: 3 });
  expect([startsAt, endsAt]).toEqual([ms(0), ms(9)]);
  expect(traceOf({ ...small, closed: false }).endsAt).toBeUndefined();
});

test('attempts at one thing stand under each other, where the first was born', () => {
  const { rows } = traceOf(
    view([
      execution('root', null),
      execution('a1', 'root', { key: 'a', createdAt: second(1), state: 'failed' }),
      execution('b', 'root', { createdAt: second(2) }),
      execution('a2', 'root', { key: 'a', attempt: 2, createdAt: second(3) }),
    ]),
  );
  expect(rows.map(({ key }) => key)).toEqual(['root', 'a1', 'a2', 'b']);
  expect(rows.map((row) => row.kind === 'execution' && row.attempts)).toEqual([
    undefined,
    { number: 1, of: 2, isFirst: true, isLast: false },
    { number: 2, of: 2, isFirst: false, isLast: true },
    undefined,
  ]);
});

test('steps that no execution shows stand below their workflow, behind those that one does', () => {
  const step = { type: 'script', state: 'blocked', tries: 0 } as const;
  const { rows } = traceOf(
    view([execution('root', null, { kind: 'workflow' }), execution('done', 'root', { kind: 'step' })], {
      steps: [
        { ...step, workflowId: 'root', name: 'next' },
        { ...step, workflowId: 'root', name: 'last' },
      ],
    }),
  );
  expect(
    rows.map(({ key, kind, depth, position, siblings, end }) => [key, kind, depth, position, siblings, end]),
  ).toEqual([
    ['root', 'execution', 0, 1, 1, 4],
    ['done', 'execution', 1, 1, 3, 2],
    ['root next', 'step', 1, 2, 3, 3],
    ['root last', 'step', 1, 3, 3, 4],
  ]);
});

test('what is collapsed hides what is below it, and stands for it', () => {
  const trace = traceOf(small);
  const visible = visibleRows(trace, new Set(['one']));
  expect(visible.rows).toEqual([0, 1, 3, 4]);
  expect([...visible.places]).toEqual([0, 1, 1, 2, 3]);
  expect(keysAbove(trace, 2)).toEqual(['one', 'root']);
});

test('keys move as in a tree', () => {
  const trace = traceOf(small);
  const collapsed = new Set<string>();
  const at = { trace, visible: visibleRows(trace, collapsed), collapsed, page: 2 };
  expect(treeMove('ArrowDown', 4, at)).toEqual({ to: 4 });
  expect(treeMove('PageUp', 3, at)).toEqual({ to: 1 });
  expect(treeMove('End', 0, at)).toEqual({ to: 4 });
  expect(treeMove('ArrowLeft', 1, at)).toEqual({ toggle: 'one' });
  expect(treeMove('ArrowLeft', 2, at)).toEqual({ to: 1 });
  expect(treeMove('ArrowRight', 1, at)).toEqual({ to: 2 });
  expect(treeMove('ArrowRight', 2, at)).toBeUndefined();
  const closed = new Set(['one']);
  const closedAt = { ...at, visible: visibleRows(trace, closed), collapsed: closed };
  expect(treeMove('ArrowRight', 1, closedAt)).toEqual({ toggle: 'one' });
});

test('an arrow leads from the end of a child to the beginning of the continuation that handled it', () => {
  const trace = traceOf(small);
  const visible = visibleRows(trace, new Set());
  const all = { first: 0, last: 4, now: ms(9) };
  expect(arrowsAmong(trace, visible, all)).toEqual([
    {
      key: 'ntc',
      from: { place: 1, at: ms(4) },
      to: { place: 4, at: ms(7) },
      isHandled: true,
      isChosen: false,
    },
  ]);
  expect(arrowsAmong(trace, visible, { ...all, chosen: 'handles' })[0]?.isChosen).toBe(true);
  // Neither end is on the screen.
  expect(arrowsAmong(trace, visible, { ...all, first: 2, last: 3 })).toEqual([]);
  // Both ends are hidden below one row.
  expect(arrowsAmong(trace, visibleRows(trace, new Set(['root'])), all)).toEqual([]);
});

test('ten thousand executions are rows in one pass, however many siblings and however deep', () => {
  const wide = [execution('root', null)];
  for (let n = 0; n < 9_000; n++) wide.push(execution(`wide ${n}`, 'root', { createdAt: second(n) }));
  for (let n = 0; n < 999; n++) wide.push(execution(`deep ${n}`, n === 0 ? 'root' : `deep ${n - 1}`));
  const trace = traceOf(view(wide));
  expect(trace.rows).toHaveLength(10_000);
  expect(trace.rows[trace.at.get('deep 998') ?? 0]?.depth).toBe(999);
  expect(visibleRows(trace, new Set(['root'])).rows).toEqual([0]);
});
