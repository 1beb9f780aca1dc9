import { expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { AgentProfile, Driver, Probe } from '../drivers/port.ts';
import { scriptDriver } from '../drivers/script/script-driver.ts';
import { lookAtAgent } from './look-at-agent.ts';

const clock = new VirtualClock();
const profile: AgentProfile = { name: 'mine', driver: 'script', command: ['tool'] };

function driverThat(probe: Driver['probe'], honours: Driver['honours'] = []): Driver {
  return { ...scriptDriver({ clock }), honours, probe };
}

it('a look adds what the pin and the profile say to what the driver found', async () => {
  const probe = async (): Promise<Probe> => ({
    found: true,
    version: '1.0',
    signedIn: 'yes',
    warnings: ['old'],
  });
  const agent = { profile: { ...profile, version: '2', model: 'x' }, driver: driverThat(probe, ['version']) };
  expect(await lookAtAgent(agent, clock)).toEqual({
    found: true,
    version: '1.0',
    signedIn: 'yes',
    warnings: [
      'old',
      expect.stringContaining('pinned to version 2'),
      expect.stringContaining('"model", which the driver script cannot do'),
    ],
  });
});

it('a look reads no secret: the driver sees that there is one', async () => {
  const seen: AgentProfile[] = [];
  const probe = async (asked: AgentProfile): Promise<Probe> => {
    seen.push(asked);
    return { found: true, warnings: [] };
  };
  const secrets = { KEY: 'cmd:exit 1' };
  await lookAtAgent({ profile: { ...profile, secrets }, driver: driverThat(probe, ['secrets']) }, clock);
  expect(seen[0]?.env).toEqual({ KEY: 'given-by-reference' });
});

it('a look that does not come back, or breaks, is an answer', async () => {
  const looking = lookAtAgent({ profile, driver: driverThat(() => new Promise(() => undefined)) }, clock);
  await Promise.resolve();
  clock.advance(12_000);
  expect(await looking).toMatchObject({ found: false, warnings: [expect.stringContaining('in time')] });
  const broken = driverThat(() => Promise.reject(new Error('boom')));
  expect(await lookAtAgent({ profile, driver: broken }, clock)).toMatchObject({
    found: false,
    warnings: [expect.stringContaining('boom')],
  });
});
