import { describe, expect, it } from 'vitest';
import { scheduleInput } from '../contract/schedule-input.ts';
import { changedKeys, definitionOf, toDefinition } from './schedule-definition.ts';

const small = { cron: '0 2 * * *', agent: 'demo', cwd: '/shop', messages: ['Test it.'] };
const whole = {
  every: '15m',
  timezone: 'Europe/Berlin',
  agent: 'codex',
  cwd: '/shop',
  session: { mode: 'keep', rotate: { turns: 50, age: '7d', tokens: 2_000_000 } },
  messages: [
    'Test {{date}}.',
    {
      text: 'Repair it.',
      timeout: '2h',
      onFailure: 'continue',
      join: 'all',
      background: 'detach',
      check: 'npm test',
      budget: { usd: 1 },
      retry: { max: 2, backoff: '30s' },
    },
  ],
  onlyIf: 'git fetch -q',
  overlap: 'queueOne',
  catchUp: { window: '12h', policy: 'all' },
  budget: { usd: 5, tokens: 100 },
  notify: ['ops'],
  workspace: 'worktree',
  labels: ['night'],
};
const parse = (said: unknown) => definitionOf(scheduleInput.parse(said));

describe('a definition', () => {
  it('has what was left out', () => {
    expect(parse(small)).toEqual({
      when: { cron: '0 2 * * *', timezone: 'UTC' },
      timezone: 'UTC',
      agent: 'demo',
      cwd: '/shop',
      session: { mode: 'fresh' },
      messages: [
        {
          text: 'Test it.',
          timeoutMs: 4 * 3_600_000,
          onFailure: 'stop',
          join: 'own',
          check: null,
          background: 'wait',
        },
      ],
      overlap: 'skip',
      catchUp: { windowMs: 24 * 3_600_000, policy: 'latest' },
      notify: [],
      labels: [],
    });
  });

  it.each([
    ['cron', small],
    ['every', whole],
    ['a local time', { ...small, cron: undefined, at: '2027-01-01T09:00' }],
    ['an instant', { ...small, cron: undefined, at: '2027-01-01T09:00:00+01:00' }],
    ['after', { ...small, cron: undefined, after: { schedule: 'import', status: 'any', deadline: '06:00' } }],
    ['a session by its mode', { ...small, session: { mode: 'keep' } }],
  ])('with %s, shown and sent back, is the same', (_what, said) => {
    const definition = parse(said);
    expect(parse(JSON.parse(JSON.stringify(toDefinition(definition))))).toEqual(definition);
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  });

  it('tells which keys an edit changed', () => {
    expect(changedKeys(parse(small), parse(small))).toEqual([]);
    expect(changedKeys(parse(small), parse({ ...small, session: 'fresh', timezone: 'UTC' }))).toEqual([]);
    expect(changedKeys(parse(small), parse({ ...small, cron: '0 3 * * *', onlyIf: 'true' }))).toEqual([
      'cron',
      'onlyIf',
    ]);
    expect(changedKeys(parse(small), parse(whole))).toContain('cron');
    expect(changedKeys(parse(small), parse(whole))).toContain('every');
  });
});
