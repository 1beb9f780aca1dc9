import { expect, test } from 'vitest';
import type { WireDefinition } from '../../../../src/contract/schedule.ts';
import { diffRows, draftOf, issuesAt, sentOf } from './schedule-draft.ts';

const definition: WireDefinition = {
  every: 5_400_000,
  timezone: 'UTC',
  agent: 'demo',
  cwd: '/shop',
  session: { mode: 'fresh' },
  messages: [
    { text: 'one', timeout: 60_000, onFailure: 'continue', join: 'own', background: 'wait', check: 'true' },
    { text: 'two', timeout: 1, onFailure: 'stop', join: 'own', background: 'wait' },
  ],
  overlap: 'skip',
  catchUp: { window: 5, policy: 'all' },
  budget: { usd: 5 },
  notify: ['ops'],
  labels: ['a', 'b'],
};

test('what was not edited is sent back as it was', () => {
  const sent = JSON.parse(JSON.stringify(sentOf(draftOf(definition), definition))) as object;
  expect(sent).toEqual({ ...definition, every: '1h30m' });
});

test('another rule takes the place of the old one; a message that moved keeps what was said of it', () => {
  const draft = {
    ...draftOf(definition),
    kind: 'cron',
    when: ' 0 2 * * * ',
    messages: ['two', 'new', 'one'],
  } as const;
  const sent = sentOf(draft, definition);
  expect(sent['cron']).toBe('0 2 * * *');
  expect('every' in sent).toBe(false);
  expect(sent['messages']).toMatchObject([
    { text: 'two', timeout: 1 },
    { text: 'new' },
    { text: 'one', check: 'true' },
  ]);
});

test('a workflow takes the place of messages', () => {
  const sent = sentOf({ ...draftOf(definition), messages: undefined, workflow: 'care' }, definition);
  expect(sent['workflow']).toEqual({ name: 'care' });
  expect('messages' in sent).toBe(false);
});

test('what would be different is told as people write it', () => {
  const after = { ...definition, every: 900_000, onlyIf: 'true' };
  expect(diffRows(['every', 'onlyIf'], definition, after)).toEqual([
    { key: 'every', before: '1h30m', after: '15m' },
    { key: 'onlyIf', before: '', after: 'true' },
  ]);
});

test('messages are told apart one by one', () => {
  const [one, two] = definition.messages ?? [];
  if (!one || !two) throw new Error('there are two');
  const after = { ...definition, messages: [one, { ...two, text: 'TWO' }, { ...two, timeout: 60_000 }] };
  expect(diffRows(['messages'], definition, after)).toEqual([
    { key: 'message 2', before: 'two', after: 'TWO' },
    {
      key: 'message 3',
      before: '',
      after: 'two\ntimeout: 1m, onFailure: stop, join: own, background: wait',
    },
  ]);
});

test('what is wrong stands at its field', () => {
  const issues = [
    { path: 'messages[1].text', message: 'is empty' },
    { path: 'cron', message: 'has 4 fields' },
  ];
  expect(issuesAt(issues, 'cron')).toEqual(['has 4 fields']);
  expect(issuesAt(issues, 'messages')).toEqual(['messages[1].text: is empty']);
});
