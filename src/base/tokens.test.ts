import { expect, test } from 'vitest';
import { Ids } from './ids.ts';
import { hashToken, randomToken, TokenSigner } from './tokens.ts';

const ids = new Ids(Date.now, Math.random);
const signer = new TokenSigner(Buffer.alloc(32, 7));
const session = { kind: 'session', sessionId: ids.make('session') } as const;
const execution = { kind: 'execution', executionId: ids.make('execution') } as const;

test('a token names the subject that it was signed for', () => {
  for (const subject of [session, execution]) expect(signer.verify(signer.sign(subject))).toEqual(subject);
});

test('a token that was changed, or signed by another server, names nobody', () => {
  const token = signer.sign(session);
  const other = ids.make('session');
  const changed = [
    '',
    token.slice(0, -1),
    `${token}A`,
    token.replace(session.sessionId, other),
    token.replace('stm_ses_', 'stm_exe_'),
    new TokenSigner(Buffer.alloc(32, 8)).sign(session),
    `stm_ses_${session.sessionId}.`,
  ];
  for (const text of changed) expect(signer.verify(text), text).toBeUndefined();
});

test('a secret that is too short is refused', () => {
  expect(() => new TokenSigner(Buffer.alloc(31))).toThrow('32 bytes');
});

test('random tokens differ, and their hashes do not give them away', () => {
  const [one, two] = [randomToken('stm_api_'), randomToken('stm_api_')];
  expect(one).not.toBe(two);
  expect(hashToken(one)).toBe(hashToken(one));
  expect(hashToken(one)).not.toContain(one.slice(8));
});
