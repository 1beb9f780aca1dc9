import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { AgentProfile } from '../port.ts';
import { findAppServer, openAppServer, socketPathIn } from './app-server.ts';
import { serverPlaceOf } from './environment.ts';

const silent = { onNotification: () => {}, onRequest: () => {}, onNoise: () => {}, onClose: () => {} };

describe('the app-server of a home', () => {
  let home: string;
  const profile = (more: Partial<AgentProfile> = {}): AgentProfile => ({
    name: 'codex',
    driver: 'codex',
    command: ['codex'],
    home,
    ...more,
  });
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'stemma-home-'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it('is the same for profiles that run the same program in the same way', () => {
    const one = serverPlaceOf(profile({ name: 'a', model: 'x', sandbox: 'full', env: { A: '1', B: '2' } }));
    const two = serverPlaceOf(profile({ name: 'b', model: 'y', env: { B: '2', A: '1' } }));
    expect(one.directory).toBe(two.directory);
    expect(serverPlaceOf(profile({ env: { A: '2' } })).directory).not.toBe(one.directory);
  });

  it('gets what it needs of our environment, and nothing else', () => {
    const ours = {
      PATH: '/bin',
      CODEX_API_KEY: 'k',
      https_proxy: 'http://p',
      STEMMA_TOKEN: 'secret',
      CODEX_HOME: '/elsewhere',
    };
    const { env } = serverPlaceOf(profile({ env: { EXTRA: 'e' } }), ours);
    expect(env).toEqual({
      PATH: '/bin',
      CODEX_API_KEY: 'k',
      https_proxy: 'http://p',
      EXTRA: 'e',
      CODEX_HOME: home,
    });
    const { home: _, ...withoutHome } = profile();
    expect(serverPlaceOf(withoutHome, ours).home).toBe('/elsewhere');
    expect(serverPlaceOf(withoutHome, { HOME: '/me' }).home).toBe('/me/.codex');
  });

  it('has its socket where a path is short enough', () => {
    expect(socketPathIn(join(home, 'x'))).toBe(join(home, 'x', 's'));
    const deep = join(home, 'd'.repeat(120));
    const path = socketPathIn(deep);
    expect(Buffer.byteLength(path)).toBeLessThan(100);
    expect(socketPathIn(deep)).toBe(path);
    expect(socketPathIn(`${deep}2`)).not.toBe(path);
  });

  it('cannot be had when the program is missing, and the message says which', async () => {
    const place = serverPlaceOf(profile({ command: ['/nowhere/codex'] }));
    expect(await openAppServer(place, systemClock, silent)).toMatchObject({
      ok: false,
      code: 'AGENT_UNAVAILABLE',
      message: expect.stringContaining('/nowhere/codex'),
    });
  });

  it('cannot be had when the program ends at once, and the message has its last words', async () => {
    const program = join(home, 'broken');
    writeFileSync(program, '#!/bin/sh\necho the key is not valid >&2\nexit 1\n');
    chmodSync(program, 0o755);
    const place = serverPlaceOf(profile({ command: [program] }));
    expect(await openAppServer(place, systemClock, silent)).toMatchObject({
      ok: false,
      code: 'AGENT_UNAVAILABLE',
      message: expect.stringContaining('the key is not valid'),
    });
    expect(await findAppServer(place.directory, systemClock, silent)).toBeUndefined();
  });

  it('cannot be had in a home that cannot be written', async () => {
    const file = join(home, 'file');
    writeFileSync(file, '');
    const place = serverPlaceOf(profile({ home: join(file, 'home') }));
    expect(await openAppServer(place, systemClock, silent)).toMatchObject({
      ok: false,
      code: 'AGENT_UNAVAILABLE',
    });
  });

  it('that is dead is forgotten, and nothing is launched when only looked for', async () => {
    const { directory } = serverPlaceOf(profile());
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'process.json'), '{"pid":999999,"startedAt":"boot:1"}');
    expect(await findAppServer(directory, systemClock, silent)).toBeUndefined();
  });
});
