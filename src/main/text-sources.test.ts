import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textSources } from './text-sources.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-texts-'));
const cwd = join(directory, 'work');
const profile = { name: 'demo', driver: 'acp', command: ['true'], env: { REGION: 'north' } };
const agents = { find: (name: string) => (name === 'demo' ? ({ profile } as never) : undefined) };
const environment = { HOME: '/home/ann', REGION: 'south' };
const sources = textSources(agents, environment, (id) => `/records/${id}`);

beforeAll(() => {
  mkdirSync(join(cwd, 'notes'), { recursive: true });
  writeFileSync(join(cwd, 'notes/today.md'), 'läuft');
  writeFileSync(join(cwd, 'image.png'), Buffer.from([0xff, 0xfe, 0x00]));
  writeFileSync(join(cwd, 'large.txt'), 'x'.repeat(1_000_001));
  writeFileSync(join(directory, 'secret.txt'), 'not for an agent');
  symlinkSync(join(directory, 'secret.txt'), join(cwd, 'link.txt'));
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('a file in a template', () => {
  it('is read from the working directory', async () => {
    expect(await sources.readFile(cwd, 'notes/today.md')).toEqual({ ok: true, text: 'läuft' });
  });

  it.each([
    ['nothing.md', /no such file/],
    ['notes', /no file/],
    ['link.txt', /outside/],
    ['image.png', /no text/],
    ['large.txt', /1000001 bytes/],
    ['pipe', /no file/],
  ])('%s is refused with the reason', async (path, why) => {
    expect(await sources.readFile(cwd, path)).toMatchObject({ ok: false, why: expect.stringMatching(why) });
  });

  it('in a directory that is gone is refused', async () => {
    expect(await sources.readFile(join(directory, 'gone'), 'a.md')).toMatchObject({ ok: false });
  });
});

describe('a variable in a template', () => {
  it('is that of the agent, and for a schedule of a file also one of the server', () => {
    expect(sources.variable('REGION', 'demo', true)).toBe('north');
    expect(sources.variable('HOME', 'demo', true)).toBe('/home/ann');
    expect(sources.variable('HOME', 'demo', false)).toBeUndefined();
    expect(sources.variable('REGION', 'other', false)).toBeUndefined();
  });
});
