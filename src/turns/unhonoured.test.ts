import { describe, expect, it } from 'vitest';
import type { AgentProfile } from '../drivers/port.ts';
import { unhonoured, whyUnusable } from './unhonoured.ts';

const profile: AgentProfile = {
  name: 'mine',
  driver: 'acp',
  command: ['agent'],
  model: 'large',
  network: 'denied',
  questionTimeoutMs: 1000,
};

describe('what a profile says and its driver cannot do', () => {
  it('is told, each thing by the name under which it was written, with what follows', () => {
    const told = unhonoured(profile, { kind: 'acp', honours: ['model'] });
    expect(told).toHaveLength(2);
    expect(told[0]).toMatch(/"network", which the driver acp cannot do: nothing keeps it from the network/);
    expect(told[1]).toContain('"questionTimeout"');
    expect(unhonoured(profile, { kind: 'acp', honours: ['model', 'network', 'questionTimeoutMs'] })).toEqual(
      [],
    );
  });

  it('keeps an agent from being started without its secrets', () => {
    const secret = { ...profile, secrets: { KEY: 'env:KEY' } };
    expect(whyUnusable(secret, { kind: 'acp', honours: [] })).toContain('the driver acp gives to nobody');
    expect(whyUnusable(secret, { kind: 'acp', honours: ['secrets'] })).toBeUndefined();
    expect(whyUnusable(profile, { kind: 'acp', honours: [] })).toBeUndefined();
  });
});
