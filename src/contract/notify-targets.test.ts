import { describe, expect, test } from 'vitest';
import { parseInput } from './issues.ts';
import { notifyTargets, targetNames } from './notify-targets.ts';

function issuesOf(input: unknown): string[] {
  const read = parseInput(notifyTargets, input);
  return read.ok ? [] : read.issues.map(({ path, message }) => `${path}: ${message}`);
}

describe('targets of notifications', () => {
  test('every way to tell somebody is taken as it is documented', () => {
    const read = notifyTargets.parse({
      ops: { webhook: 'https://ops.example/hook', secret: 'env:HOOK', headers: { 'X-Team': 'env:TEAM' } },
      local: { command: 'notify-send "$STEMMA_TITLE"', timeout: '5s' },
      argv: { command: ['logger', '-t', 'stemma'] },
      me: { mail: { to: 'me@example.org', from: 'stemma@example.org', host: 'mail.example' } },
      phone: { ntfy: 'https://ntfy.example/topic', token: 'file:~/.ntfy' },
      team: { slack: 'env:SLACK_URL' },
      meta: { webhook: 'http://169.254.1.1/', allowLinkLocal: true },
    });
    expect(read['me']?.mail?.to).toEqual(['me@example.org']);
    expect(read['local']?.timeout).toBe(5000);
  });

  test.each([
    ['no way at all', { ops: {} }, 'exactly one of'],
    ['two ways', { ops: { webhook: 'http://a.example/', slack: 'env:X' } }, 'has webhook and slack'],
    ['a secret as it is', { ops: { webhook: 'http://a.example/', secret: 'hunter2' } }, 'no reference'],
    ['a key of another way', { ops: { slack: 'env:X', secret: 'env:Y' } }, 'is only for webhook'],
    ['another scheme', { ops: { webhook: 'ftp://a.example/' } }, 'must be a URL'],
    ['a header of ours', { ops: { webhook: 'http://a.example/', headers: { 'Webhook-Id': 'env:X' } } }, ''],
    ['a name that is none', { 'a b': { slack: 'env:X' } }, ''],
    ['a mail address with a header in it', mailTo('me@example.org\r\nBcc: you@example.org'), 'mail address'],
    ['a user without a password', { me: { mail: { ...mailParts, user: 'x' } } }, 'user and password'],
    ['a time limit of a day', { ops: { slack: 'env:X', timeout: '24h' } }, 'between'],
  ])('%s is refused', (_, input, words) => {
    const issues = issuesOf(input);
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.join('\n')).toContain(words);
  });

  test('a target is named once', () => {
    expect(targetNames.safeParse(['ops', 'ops']).success).toBe(false);
    expect(targetNames.safeParse([]).success).toBe(true);
  });
});

const mailParts = { to: 'me@example.org', from: 'stemma@example.org', host: 'mail.example' };

function mailTo(to: string): unknown {
  return { me: { mail: { ...mailParts, to } } };
}
