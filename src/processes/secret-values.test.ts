import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { waitFor } from '../../test/e2e/wait-for.ts';
import { isAlive } from '../../test/e2e/living-processes.ts';
import { readSecret, type SecretPlace, type SecretValue } from './secret-values.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-secret-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function read(reference: string, more: Partial<SecretPlace> = {}): Promise<SecretValue> {
  const env = { PATH: process.env['PATH'], KEY: 'from the environment', EMPTY: '' };
  return readSecret(reference, { directory, env, clock: systemClock, ...more });
}

describe('a secret', () => {
  it('is read from the environment', async () => {
    expect(await read('env:KEY')).toEqual({ ok: true, value: 'from the environment' });
    expect(await read('env:NONE')).toMatchObject({ reason: expect.stringContaining('no variable NONE') });
    expect(await read('env:EMPTY')).toMatchObject({ reason: expect.stringContaining('is empty') });
  });

  it('is read from a file, relative to the place, without the newline at its end', async () => {
    writeFileSync(join(directory, 'key'), 'in a file\n\n');
    expect(await read('file:key')).toEqual({ ok: true, value: 'in a file\n' });
    expect(await read(`file:${join(directory, 'key')}`)).toMatchObject({ ok: true });
    expect(await read('file:none')).toEqual({ ok: false, reason: `there is no file ${directory}/none` });
    writeFileSync(join(directory, 'large'), 'x'.repeat(64 * 1024 + 1));
    expect(await read('file:large')).toMatchObject({ reason: expect.stringContaining('65536 bytes') });
    expect(await read('file:.')).toMatchObject({ reason: expect.stringContaining('EISDIR') });
  });

  it('is what a command prints, run in the place', async () => {
    writeFileSync(join(directory, 'key'), 'by a command');
    expect(await read('cmd:cat key; echo')).toEqual({ ok: true, value: 'by a command' });
  });

  it('is none when the command fails, and the reason holds nothing of what it said', async () => {
    const failed = await read('cmd:echo half-a-secret; echo half-a-secret >&2; exit 3');
    expect(failed).toEqual({
      ok: false,
      reason: 'the command ended with exit code 3; run it by hand to see why',
    });
    expect(await read('cmd:head -c 100000 /dev/zero | tr "\\0" x')).toMatchObject({
      reason: expect.stringContaining('more than 65536 bytes'),
    });
    expect(await read('cmd:printf "a\\0b"')).toMatchObject({ reason: expect.stringContaining('NUL') });
  });

  it('is waited for ten seconds, and what the command started is ended', async () => {
    const clock = new VirtualClock();
    const reading = read('cmd:sleep 600 & echo $! > child; wait', { clock });
    const file = join(directory, 'child');
    await waitFor('the command runs', () => existsSync(file));
    clock.advance(10_000);
    expect(await reading).toMatchObject({ ok: false, reason: expect.stringContaining('10 seconds') });
    const { readFileSync } = await import('node:fs');
    await waitFor('its child is dead', () => !isAlive(Number(readFileSync(file, 'utf8'))));
  });

  it('must be a reference', async () => {
    expect(await read('sk-12345')).toMatchObject({ reason: expect.stringContaining('is no reference') });
  });
});
