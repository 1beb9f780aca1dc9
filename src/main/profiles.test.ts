import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { agentProfileInput } from '../contract/config-file.ts';
import type { AgentProfile } from '../drivers/port.ts';
import { completeProfile } from './profiles.ts';

function complete(written: object, directory?: string): AgentProfile {
  return completeProfile('mine', agentProfileInput.parse(written), ['codex', 'script'], directory);
}

describe('a profile', () => {
  it('has its arguments behind the command that its driver knows', () => {
    expect(complete({ driver: 'codex', args: ['-c', 'a=b'] })).toEqual({
      name: 'mine',
      driver: 'codex',
      command: ['codex', '-c', 'a=b'],
    });
  });

  it('has absolute paths: from the directory of its file, or from the home of the user', () => {
    const written = { driver: 'codex', home: '../home', secrets: { A: 'file: keys/a', B: 'cmd:pass b' } };
    expect(complete(written, '/etc/stemma')).toMatchObject({
      home: '/etc/home',
      secrets: { A: 'file:/etc/stemma/keys/a', B: 'cmd:pass b' },
    });
    expect(complete({ driver: 'codex', home: '~/codex' }).home).toBe(`${homedir()}/codex`);
    expect(() => complete(written)).toThrow('agents.mine.home: "../home" is relative');
  });

  it('says how long a question waits only where somebody is asked', () => {
    const asks = { driver: 'codex', onQuestion: 'ask', questionTimeout: '10m' };
    expect(complete(asks).questionTimeoutMs).toBe(600_000);
    expect(() => complete({ ...asks, onQuestion: 'deny' })).toThrow('agents.mine.questionTimeout');
  });

  it('has a variable from one place only', () => {
    const doubled = { driver: 'codex', env: { KEY: 'a' }, secrets: { KEY: 'env:B' } };
    expect(() => complete(doubled)).toThrow('agents.mine.secrets.KEY: is in env too');
  });

  it.each(['sk-12345', 'env:', 'env:not a name', 'file:', 'vault:x'])('takes no %j for a secret', (text) => {
    expect(() => complete({ driver: 'codex', secrets: { KEY: text } })).toThrow(
      'is no reference to a secret',
    );
  });

  it.each(['latest', '^1.2', ''])('takes no %j for a version', (version) => {
    expect(() => complete({ driver: 'codex', version })).toThrow('is no version');
  });
});
