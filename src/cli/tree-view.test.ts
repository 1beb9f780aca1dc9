import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { Execution, Holding, Notice, TreeView } from '../contract/execution.ts';
import { printLine } from './print-line.ts';
import type { Line } from '../words/line.ts';
import { changeLines } from './tree-changes.ts';
import { unseenLines } from './run-lines.ts';
import { type TreeOptions, treeLines } from '../words/tree-view.ts';
import { asciiSigns } from '../words/tree-words.ts';

const start = Date.UTC(2026, 0, 1, 2);
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
const plain = { columns: Number.POSITIVE_INFINITY, colors: picocolors.createColors(false) };

function execution(id: string, more: Partial<Execution>): Execution {
  return {
    id: `exe_${id}`,
    rootId: 'exe_m',
    parentId: 'exe_m',
    parentSource: 'turn',
    kind: 'agent',
    name: id,
    attempt: 1,
    state: 'running',
    open: 0,
    closed: false,
    createdAt: at(0),
    startedAt: at(0),
    ...more,
  };
}

function notice(id: string, about: string, more: Partial<Notice>): Notice {
  const fixed = { id: `ntc_${id}`, executionId: `exe_${about}`, attempt: 0, sessionId: 'ses_1' };
  return { ...fixed, state: 'owed', owedAt: at(4), ...more };
}

function view(executions: Execution[], notices: Notice[] = [], holding: Holding[] = []): TreeView {
  const root = executions.find(({ parentId }) => parentId === null);
  return { root: 'exe_m', closed: root?.closed ?? false, executions, notices, holding };
}

function text(
  tree: TreeView,
  options: Partial<TreeOptions> = {},
  columns = Number.POSITIVE_INFINITY,
): string[] {
  return treeLines(tree, { now: start + 10_000, ...options }).map((line: Line) =>
    printLine(line, { ...plain, columns }),
  );
}

const message = execution('m', {
  kind: 'message',
  name: 'Run the checks',
  parentId: null,
  parentSource: 'none',
});
const settledMessage = { ...message, state: 'succeeded', endedAt: at(2), open: 2 } as const;

const retry = view(
  [
    settledMessage,
    execution('lint', {
      state: 'succeeded',
      endedAt: at(1.5),
      createdAt: at(0.1),
      startedAt: at(0.1),
      closed: true,
    }),
    execution('tests', {
      state: 'failed',
      createdAt: at(0.2),
      startedAt: at(0.2),
      endedAt: at(0.6),
      closed: true,
      error: { code: 'AGENT_FAILED', message: 'a port was busy' },
    }),
    execution('c', {
      kind: 'continuation',
      name: 'continuation',
      state: 'succeeded',
      createdAt: at(2),
      startedAt: at(2),
      endedAt: at(4),
      open: 1,
    }),
    execution('again', { name: 'tests', parentId: 'exe_c', attempt: 2, createdAt: at(3), startedAt: at(3) }),
  ],
  [
    notice('l', 'lint', { state: 'handled', continuationId: 'exe_c' }),
    notice('t', 'tests', { state: 'handled', continuationId: 'exe_c', owedAt: at(5) }),
  ],
  [{ executionId: 'exe_again', why: 'running', since: at(3), evidence: 'turn trn_1 runs' }],
);

describe('the tree view', () => {
  it('shows states in words, attempts, what a continuation handles and what holds the root', () => {
    expect(text(retry)).toEqual([
      '◎ message Run the checks · open 10s · waits for 2 below',
      '├─ ✓ agent lint · succeeded 1.4s',
      '├─ ✗ agent tests · failed 0.4s · a port was busy',
      '└─ ◎ continuation · open 8.0s · waits for 1 below · handles: lint succeeded, tests failed',
      '   └─ ● agent tests (attempt 2) · running 7.0s',
      'waits for: agent tests (attempt 2, running 7.0s)',
    ]);
  });

  it('draws with ASCII alone where the terminal has nothing else', () => {
    const lines = text(retry, { signs: asciiSigns });
    expect(lines.join('\n')).toMatch(/^[\x20-\x7e\n]*$/);
    expect(lines[4]).toBe('   `- * agent tests (attempt 2) - running 7.0s');
  });

  it('numbers both attempts of one thing when they are siblings', () => {
    const lines = text(
      view([
        message,
        execution('a', { key: 'k', state: 'failed', endedAt: at(1), closed: true }),
        execution('b', { key: 'k', attempt: 2 }),
      ]),
    );
    expect(lines.slice(1)).toEqual([
      '├─ ✗ agent a (attempt 1) · failed 1.0s',
      '└─ ● agent b (attempt 2) · running 10s',
    ]);
  });

  it('says what each thing waits for, and until when', () => {
    const since = at(4);
    const lines = text(
      view([
        message,
        execution('ask', { waiting: { for: 'input', since, text: 'Delete it?', choices: ['yes', 'no'] } }),
        execution('full', { waiting: { for: 'capacity', since, until: at(130) } }),
        execution('next', { state: 'queued', waiting: { for: 'slot', since } }),
        execution('old', { state: 'queued' }),
      ]),
    );
    expect(lines.slice(1)).toEqual([
      '├─ ◐ agent ask · waits for input 6.0s: Delete it? [yes | no]',
      '├─ ◐ agent full · waits for capacity 6.0s, 2m00s left',
      '├─ ◐ agent next · waits for slot 6.0s',
      '└─ ○ agent old · queued 10s',
    ]);
  });

  it('shows the outcome of a root that is closed, with the time that its whole tree took', () => {
    const closed = { ...settledMessage, open: 0, closed: true, closedAt: at(9) } as const;
    const shown = (more: Partial<Execution>): string[] => text(view([{ ...closed, ...more }]));
    expect(shown({ outcome: 'succeeded' })).toEqual(['✓ message Run the checks · succeeded 9.0s']);
    expect(shown({ outcome: 'failed', outcomeCode: 'CHECK_FAILED' })).toEqual([
      '✗ message Run the checks · failed 9.0s · CHECK_FAILED',
    ]);
    expect(shown({ outcome: 'cancelled', outcomeCode: 'CANCELLED' })).toEqual([
      '⊘ message Run the checks · cancelled 9.0s',
    ]);
    expect(shown({ state: 'lost', outcome: 'failed', outcomeCode: 'LOST' })).toEqual([
      '? message Run the checks · lost 9.0s · LOST',
    ]);
  });

  it('says of what failed itself and is still open below that it is open', () => {
    expect(text(view([{ ...settledMessage, state: 'failed' }]))).toEqual([
      '◎ message Run the checks · open 10s · itself failed · waits for 2 below',
    ]);
  });

  it('does not say that a root waits for itself, unless its agent does not begin', () => {
    const waits = (why: string, since: number): string[] =>
      text(
        view([message], [], [{ executionId: 'exe_m', why, since: at(since), evidence: 'sent, not begun' }]),
      ).slice(1);
    expect(waits('running', 0)).toEqual([]);
    expect(waits('starting', 9)).toEqual([]);
    expect(waits('starting', 1)).toEqual([
      'waits for: message Run the checks (starting 9.0s, sent, not begun)',
    ]);
    expect(waits('cancelling', 9)).toEqual(['waits for: message Run the checks (cancelling 1.0s)']);
  });

  it('says how much time is left only where that is near, and names a result by what it is of', () => {
    const held = (until: number) => ({
      executionId: 'exe_lint',
      why: 'running',
      since: at(2),
      evidence: 'turn exe_01ABCDEFGHJKMNPQRSTVWXYZ00 runs',
      until: at(until),
    });
    const owed = {
      noticeId: 'ntc_l',
      executionId: 'exe_lint',
      why: 'notice_owed',
      since: at(6),
      evidence: 'x',
    };
    const lines = text(
      view([message, execution('lint', {})], [notice('l', 'lint', {})], [held(14_400), held(70), owed]),
    );
    expect(lines.slice(2)).toEqual([
      'waits for: agent lint (running 8.0s)',
      'waits for: agent lint (running 8.0s, 1m00s left)',
      'waits for: the result of agent lint (owed 4.0s)',
    ]);
  });

  it('shows answers below what gave them, broken to the width of the screen', () => {
    const answer = 'Both passed. \x1b[2JNothing else\nto do.';
    const lines = text(
      view([
        { ...message, result: answer },
        execution('lint', { result: 'No warnings.' }),
        execution('m2', { kind: 'message', parentId: 'exe_lint', result: 'No warnings.' }),
      ]),
      { results: true, columns: 24 },
    );
    expect(lines).toEqual([
      '● message Run the checks · running 10s',
      '│  Both passed. Nothing',
      '│  else',
      '│  to do.',
      '└─ ● agent lint · running 10s',
      '   │  No warnings.',
      '   └─ ● message m2 · running 10s',
    ]);
  });

  it('tells how far each result is on its way', () => {
    const ended = { state: 'succeeded', endedAt: at(1) } as const;
    const lines = text(
      view(
        [message, ...['a', 'b', 'c', 'd'].map((id) => execution(id, ended))],
        [
          notice('a', 'a', { attempt: 2 }),
          notice('b', 'b', { state: 'claimed' }),
          notice('c', 'c', { state: 'handed', continuationId: 'exe_x' }),
          notice('d', 'd', { state: 'waived', reason: 'session_gone', actor: 'system' }),
        ],
      ),
    );
    expect(lines.slice(1).map((line) => line.split(' · ')[2])).toEqual([
      'result owed again (delivery 3)',
      'result being delivered',
      'result being handled',
      'result waived: session_gone, by system',
    ]);
  });

  it('lets no escape sequence of an agent reach the terminal', () => {
    const evil = '\x1b]0;owned\x07\x1b[2Jtests\nrm -rf /\u202e';
    const lines = text(
      view(
        [
          message,
          execution('a', {
            name: evil,
            waiting: { for: 'input', since: at(1), text: evil, choices: [evil] },
          }),
          execution('b', {
            name: evil,
            state: 'failed',
            endedAt: at(1),
            error: { code: evil, message: evil },
          }),
        ],
        [notice('b', 'b', { state: 'waived', reason: evil, actor: evil })],
        [{ name: evil, why: evil, since: at(1), evidence: evil }],
      ),
    );
    expect(lines).toHaveLength(4);
    expect(lines.join('')).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(lines[1]).toBe(
      '├─ ◐ agent tests rm -rf / · waits for input 9.0s: tests rm -rf / [tests rm -rf /]',
    );
  });

  it('keeps an execution whose parent is unknown, and one with an id to name it', () => {
    const lines = text(
      view([message, execution('x', { id: 'exe_01ABCDEFGHJKMNPQRSTVWXYZ00', parentId: 'exe_gone' })]),
      { ids: true },
    );
    expect(lines[0]).toBe('● agent x · running 10s · exe_01ABCDEFGHJKMN');
  });

  it('shortens a title before it cuts the id behind it', () => {
    const id = 'exe_01ABCDEFGHJKMNPQRSTVWXYZ00';
    const lines = text(
      view([{ ...message, id, name: 'Run all of the checks' }]),
      { ids: true, columns: 60 },
      60,
    );
    expect(lines).toEqual(['● message Run all of the… · running 10s · exe_01ABCDEFGHJKMN']);
  });

  it('cuts lines to the width of the screen, wide characters included', () => {
    const lines = text(view([{ ...message, name: '試験'.repeat(20) }]), {}, 20);
    expect(lines).toEqual(['● message 試験試験…']);
  });
});

describe('a tree that is higher than the screen', () => {
  const closed = { state: 'succeeded', endedAt: at(1), closed: true } as const;
  const many = view(
    [
      message,
      execution('w', { kind: 'workflow', ...closed }),
      ...Array.from({ length: 30 }, (_, n) =>
        execution(`s${n}`, { kind: 'step', parentId: 'exe_w', ...closed }),
      ),
      execution('live', { createdAt: at(2), startedAt: at(2) }),
    ],
    [],
    [{ executionId: 'exe_live', why: 'running', since: at(3), evidence: '' }],
  );

  it('folds what is closed first', () => {
    expect(text(many, { rows: 10 })).toEqual([
      '● message Run the checks · running 10s',
      '├─ ✓ workflow w · succeeded 1.0s · 30 closed below',
      '└─ ● agent live · running 8.0s',
      'waits for: agent live (running 7.0s)',
    ]);
  });

  it('then folds closed siblings, then leaves out the middle, and never takes more rows than there are', () => {
    const wide = view(
      [
        message,
        ...Array.from({ length: 40 }, (_, n) =>
          execution(`d${n}`, { ...closed, ...(n < 2 ? { state: 'failed' as const } : {}) }),
        ),
        ...Array.from({ length: 40 }, (_, n) => execution(`r${n}`, { createdAt: at(5) })),
      ],
      [],
      Array.from({ length: 40 }, (_, n) => ({
        executionId: `exe_r${n}`,
        why: 'running',
        since: at(3),
        evidence: '',
      })),
    );
    const lines = text(wide, { rows: 12 });
    expect(lines).toHaveLength(12);
    expect(lines[0]).toBe('● message Run the checks · running 10s');
    expect(lines[1]).toBe('… 35 lines left out; stemma tree shows all');
    expect(lines.at(-5)).toBe('└─ 40 closed: 2 failed, 38 succeeded');
    expect(lines.at(-1)).toBe('waits for 37 more');
    for (let rows = 1; rows < 100; rows += 7) expect(text(wide, { rows }).length).toBeLessThanOrEqual(rows);
  });

  it('shows a tree of depth 1,000 without drawing off the screen', () => {
    const deep = view([
      message,
      ...Array.from({ length: 999 }, (_, n) =>
        execution(`d${n}`, { parentId: n === 0 ? 'exe_m' : `exe_d${n - 1}` }),
      ),
    ]);
    const lines = text(deep, { levels: 4 });
    expect(lines).toHaveLength(1_000);
    expect(lines.at(-1)).toBe('…            └─ ● agent d998 · running 10s');
  });
});

describe('a check', () => {
  it('is called so, which a step of a workflow that is called "check" is not', () => {
    const check = execution('c', { kind: 'step', name: 'check', key: 'check:run_1/0' });
    const step = execution('s', { kind: 'step', name: 'check', key: 'step:check' });
    expect(text(view([message, check, step]))).toMatchObject([
      '● message Run the checks · running 10s',
      '├─ ● check · running 10s',
      '└─ ● step check · running 10s',
    ]);
  });

  it('of a message leaves the message open, which has its tick when that is closed', () => {
    const root = execution('w', { kind: 'workflow', name: 'w', parentId: null });
    const sent = execution('m1', { kind: 'message', name: 'Write.', parentId: 'exe_w', rootId: 'exe_w' });
    const open = { ...sent, state: 'succeeded', endedAt: at(2), open: 1 } as const;
    const closed = { ...open, open: 0, closed: true, closedAt: at(3) };
    const log = (before: TreeView, after: TreeView): string[] =>
      changeLines(before, after, { now: start + 3_000, since: start }).map((line) => printLine(line, plain));
    expect(log(view([root, open]), view([root, closed]))).toEqual([
      '  +3.0s  ✓ message Write. · succeeded 2.0s',
    ]);
    expect(log(view([root, closed]), view([root, closed]))).toEqual([]);
  });
});

describe('the tree as a log', () => {
  const log = (before: TreeView | undefined, after: TreeView): string[] =>
    changeLines(before, after, { now: start + 10_000, since: start }).map((line) => printLine(line, plain));

  it('has one line for each change, in the order in which things happened', () => {
    const first = view([message]);
    expect(log(undefined, first)).toEqual(['   +10s  ● message Run the checks · running 10s']);
    expect(log(first, first)).toEqual([]);
    expect(log(first, retry)).toEqual([
      '   +10s  ✗ agent tests · failed 0.4s · a port was busy',
      '   +10s  ✓ agent lint · succeeded 1.4s',
      '   +10s  ◎ message Run the checks · open 10s · waits for 2 below',
      '   +10s  ● agent tests (attempt 2) · running 7.0s',
      '   +10s  ◎ continuation · open 8.0s · waits for 1 below · handles: lint succeeded, tests failed',
    ]);
  });

  it('says whose a continuation is before it is known what it handles, and tells the end of a root last', () => {
    const handling = execution('c', { kind: 'continuation', name: 'continuation', createdAt: at(3) });
    expect(log(view([message]), view([message, handling]))).toEqual([
      '   +10s  ● continuation of message Run the checks · running 10s',
    ]);
    const ended = { state: 'succeeded', closed: true, endedAt: at(9), closedAt: at(9) } as const;
    const root = { ...settledMessage, open: 0, closed: true, closedAt: at(9), outcome: 'succeeded' } as const;
    expect(log(view([message, handling]), view([root, { ...handling, ...ended }]))).toEqual([
      '   +10s  ✓ continuation of message Run the checks · succeeded 9.0s',
      '   +10s  ✓ message Run the checks · closed: succeeded 9.0s',
    ]);
  });

  it('says when the root is closed, and when a result is waived', () => {
    const end = view([
      {
        ...settledMessage,
        open: 0,
        closed: true,
        closedAt: at(9),
        outcome: 'failed',
        outcomeCode: 'TIMED_OUT',
      },
    ]);
    expect(log(view([settledMessage]), end)).toEqual([
      '   +10s  ✗ message Run the checks · closed: failed 9.0s · TIMED_OUT',
    ]);
    const child = execution('lint', { state: 'succeeded', endedAt: at(1) });
    expect(
      log(
        view([message, child], [notice('l', 'lint', {})]),
        view([message, child], [notice('l', 'lint', { state: 'waived' })]),
      ),
    ).toEqual(['   +10s  agent lint · result waived']);
  });
});

it('what no tree can show is said below all of them, once for each agent', () => {
  const view = { root: 'exe_m', closed: true, executions: [], notices: [], holding: [] };
  const trees = [view, { ...view, unseen: ['opencode', 'pi'] }, { ...view, unseen: ['pi'] }];
  expect(unseenLines({ trees }).map((line) => printLine(line, plain))).toEqual([
    'not seen: what opencode, pi left running in the background; it holds nothing',
  ]);
  expect(unseenLines({ trees: [view] })).toEqual([]);
});
