import { expect, it } from 'vitest';
import type { AgentProfile } from '../port.ts';
import { serverPlaceOf } from './environment.ts';

const profile: AgentProfile = { name: 'codex', driver: 'codex', command: ['codex'], home: '/home/codex' };
const directoryOf = (more: Partial<AgentProfile>): string =>
  serverPlaceOf({ ...profile, ...more }, { KEY: 'value' }).directory;

it('profiles share an app-server by what they say, and secrets by where they are had from', () => {
  expect(directoryOf({})).toBe(directoryOf({ name: 'another', model: 'another' }));
  expect(directoryOf({})).toBe(directoryOf({ secrets: {} }));
  const secret = directoryOf({ secrets: { KEY: 'env:KEY' } });
  expect(secret).not.toBe(directoryOf({}));
  expect(secret).not.toBe(directoryOf({ secrets: { KEY: 'env:OTHER' } }));
  // What a secret is now says nothing: it may be another one tomorrow.
  expect(serverPlaceOf({ ...profile, secrets: { KEY: 'env:KEY' } }, { KEY: 'rotated' }).directory).toBe(
    secret,
  );
  expect(
    JSON.stringify(serverPlaceOf({ ...profile, secrets: { KEY: 'env:KEY' } }, { KEY: 'value' }).env),
  ).not.toContain('value');
});
