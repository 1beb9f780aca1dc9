import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { Redaction } from '../base/redaction.ts';
import type { AgentProfile, Driver, Probe } from '../drivers/port.ts';
import { scriptDriver } from '../drivers/script/script-driver.ts';
import { prepareLaunches } from './launch-preparation.ts';
import { versionMismatch } from './pinned-version.ts';

const profile: AgentProfile = { name: 'mine', driver: 'script', command: ['tool'] };

function prepare(more: Partial<AgentProfile>, probe: Probe, redaction = new Redaction()) {
  const driver: Driver = { ...scriptDriver({ clock: systemClock }), probe: async () => probe };
  const env = { PATH: process.env['PATH'], KEY: 'the value of the key' };
  return prepareLaunches(
    { profile: { ...profile, ...more }, driver },
    { clock: systemClock, redaction, directory: '/', env },
  );
}

describe('before a launch', () => {
  it('nothing is done for a profile that asks for nothing', async () => {
    expect(await prepare({}, { found: true, warnings: [] })).toBeUndefined();
  });

  it('secrets are known, and redacted, even if nothing is ever launched', async () => {
    const redaction = new Redaction();
    const launch = await prepare({ secrets: { KEY: 'env:KEY' } }, { found: true, warnings: [] }, redaction);
    expect(redaction.text('it is the value of the key')).toBe('it is [secret KEY]');
    expect(await launch?.()).toEqual({ ok: true, env: { KEY: 'the value of the key' } });
  });

  it('another version than the pinned one is refused', async () => {
    const launch = await prepare({ version: '1.2' }, { found: true, version: '1.3.0', warnings: [] });
    expect(await launch?.()).toEqual({
      ok: false,
      message:
        'Agent "mine" is pinned to version 1.2, and tool is version 1.3.0; install that one, or correct "version".',
    });
  });
});

describe('a pinned version', () => {
  it.each([
    ['1.2', '1.2.3', true],
    ['1.2.3', '1.2.3', true],
    ['1.2', '1.20.0', false],
    ['1.2.3', '1.2', false],
    ['1.2', undefined, false],
  ])('%s is met by %s: %s', (wanted, version, isMet) => {
    const probe = { found: true, warnings: [], ...(version === undefined ? {} : { version }) };
    expect(versionMismatch({ ...profile, version: wanted }, probe) === undefined).toBe(isMet);
  });
});
