import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import type { AgentProfile, OpenRequest } from '../port.ts';
import { writeLaunch } from './launch.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-launch-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function request(profile: Partial<AgentProfile>): OpenRequest {
  return {
    sessionId: 'ses_1' as SessionId,
    profile: { name: 'screen', driver: 'terminal', command: [], ...profile },
    cwd: '/',
    directory,
    position: 0,
    unresolved: [],
    emit: () => undefined,
  };
}

it('secrets are the last of the environment, and in no file and no argument', () => {
  const secrets = { ANTHROPIC_API_KEY: 'the secret' };
  const env = { ANTHROPIC_API_KEY: 'no secret', OTHER: 'kept' };
  const launch = writeLaunch(request({ env }), 'native', false, secrets);
  expect(launch.env).toMatchObject({ ...secrets, OTHER: 'kept' });
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
  expect(files.length).toBeGreaterThan(0);
  expect([...files, ...launch.command].join('\n')).not.toContain('the secret');
});

it('model and effort are said, where the profile says them', () => {
  const { command } = writeLaunch(request({ model: 'opus', effort: 'high' }), 'native', false);
  expect(command.join(' ')).toContain('--model opus --effort high');
  const bare = writeLaunch(request({}), 'native', true).command;
  expect(bare.join(' ')).not.toMatch(/--model|--effort/);
});
