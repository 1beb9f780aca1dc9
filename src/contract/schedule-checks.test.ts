import { describe, expect, it } from 'vitest';
import { checkSchedules, type ScheduleFacts } from './schedule-checks.ts';

const facts: ScheduleFacts = {
  agents: ['codex', 'demo'],
  refusalOfBudget: (agent) => (agent === 'demo' ? 'demo does not report what it uses.' : undefined),
  targets: ['ops', 'phone'],
};
const said = { agent: 'codex', messages: [{ text: 'Test it.' }] };
const follow = (schedule: string) => ({ ...said, after: { schedule } });

describe('schedules that make sense', () => {
  it('have no issues', () => {
    const schedules = { import: said, report: follow('import'), publish: follow('report') };
    expect(checkSchedules(schedules, facts)).toEqual([]);
    expect(
      checkSchedules({ late: follow('elsewhere') }, { ...facts, others: new Map([['elsewhere', null]]) }),
    ).toEqual([]);
    expect(checkSchedules({ a: { ...said, notify: ['ops'], budget: { usd: 1 } } }, facts)).toEqual([]);
  });
});

describe('a schedule', () => {
  it.each([
    [
      { agent: 'codx' },
      {
        path: ['a', 'agent'],
        nearest: 'codex',
        message: 'no agent "codx" is configured; did you mean "codex"?',
      },
    ],
    [
      { agent: 'x'.repeat(9) },
      { path: ['a', 'agent'], message: 'no agent "xxxxxxxxx" is configured; there are codex, demo' },
    ],
    [
      { notify: ['ops', 'phon'] },
      {
        path: ['a', 'notify', 1],
        nearest: 'phone',
        message: 'no target "phon" is configured; did you mean "phone"?',
      },
    ],
    [
      { agent: 'demo', budget: { usd: 1 } },
      { path: ['a', 'budget'], message: 'demo does not report what it uses' },
    ],
    [
      { agent: 'demo', messages: [{ text: 'x' }, { text: 'y', budget: { tokens: 1 } }] },
      { path: ['a', 'messages', 1, 'budget'], message: 'demo does not report what it uses' },
    ],
    [
      { after: { schedule: 'imprt' } },
      {
        path: ['a', 'after', 'schedule'],
        nearest: 'import',
        message: 'there is no schedule "imprt" in this project; did you mean "import"?',
      },
    ],
    [
      { after: { schedule: 'a' } },
      {
        path: ['a', 'after', 'schedule'],
        message: 'these run after each other in a circle: a; one of them must have a time of its own',
      },
    ],
  ])('with %j has an issue at its place', (more, issue) => {
    expect(checkSchedules({ import: said, a: { ...said, ...more } }, facts)).toEqual([issue]);
  });

  it('in a circle is told, also by way of one that is there already; what leads to the circle is not', () => {
    const schedules = { a: follow('b'), b: follow('c'), before: follow('a') };
    const issues = checkSchedules(schedules, { ...facts, others: new Map([['c', 'a']]) });
    expect(issues.map(({ path }) => path[0])).toEqual(['a', 'b']);
    expect(issues[0]?.message).toContain('a, b, c');
  });

  it('replaces the one of its name', () => {
    const others = new Map([
      ['a', 'b'],
      ['b', null],
    ]);
    expect(checkSchedules({ b: follow('a'), a: said }, { ...facts, others })).toEqual([]);
    expect(checkSchedules({ b: follow('a') }, { ...facts, others })).toHaveLength(1);
  });
});
