import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StemmaError } from '../base/errors.ts';
import { findConfigFile, loadConfigFile, withPlaces } from './config-file.ts';
import { loadRunFile } from './run-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

describe('a run file', () => {
  it('becomes the body of a request: durations in milliseconds, the directory absolute', async () => {
    mkdirSync(join(directory, 'sub'));
    write(
      'sub/night.yaml',
      'agent: codex\nname: night\ncwd: ../shop\nmessages:\n  - Test it.\n  - {text: Repair it., timeout: 1h30m, check: npm test, join: all}\n',
    );
    expect(await loadRunFile('sub/night.yaml', directory)).toEqual({
      agent: 'codex',
      name: 'night',
      cwd: join(directory, 'shop'),
      messages: [
        { text: 'Test it.' },
        { text: 'Repair it.', timeout: 5_400_000, check: 'npm test', join: 'all' },
      ],
    });
  });

  it('without a directory works where the command was given', async () => {
    write('a.yaml', 'agent: demo\nmessages: [Hello.]\n');
    expect((await loadRunFile('a.yaml', directory)).cwd).toBe(directory);
  });

  it('with mistakes names each, as the caller named the file', async () => {
    write(
      'a.yaml',
      'agent: demo\nmessages:\n  - text: Hello.\n    timeout: 30\n    onfailure: stop\n  - text: Bye.\n    timeout: soon\n',
    );
    await expect(loadRunFile('a.yaml', directory)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringMatching(
        /^a\.yaml:5:5: the key "onfailure" is not known here\. Did you mean "onFailure"\?[^]*a\.yaml:7:14: /,
      ),
      data: { file: 'a.yaml', line: 5, column: 5, key: 'messages[0].onfailure', nearest: 'onFailure' },
    });
  });

  it('with a text that reads as a mapping says what to do about it, once', async () => {
    write('a.yaml', 'agent: demo\nmessages:\n  - Hello.\n  - Note: this has a colon\n');
    await expect(loadRunFile('a.yaml', directory)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^a\.yaml:4:5: messages\[1\]: a text with ": " in it reads as a mapping; put all of it in quotes\.\n\n.*\n.*$/,
      ),
    });
    write('b.yaml', 'agent: demo\nmessages:\n  - One: two: three\n');
    await expect(loadRunFile('b.yaml', directory)).rejects.toMatchObject({
      message: expect.stringContaining('A text with ": " in it must be in quotes.'),
    });
    write('c.yaml', 'agent: demo\nmessages:\n  - txt: Hello.\n');
    await expect(loadRunFile('c.yaml', directory)).rejects.toMatchObject({
      message: expect.stringContaining('Did you mean "text"?'),
    });
  });

  it('that is not there is not found', async () => {
    await expect(loadRunFile('none.yaml', directory)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'The run file "none.yaml" cannot be read: there is no such file.',
    });
    await expect(loadRunFile('.', directory)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'The run file "." cannot be read: it is a directory.',
    });
  });
});

describe('the configuration file', () => {
  it('is the one named, else stemma.yaml, else none', () => {
    expect(findConfigFile(directory)).toBeUndefined();
    expect(findConfigFile(directory, 'other.yaml')).toBe(join(directory, 'other.yaml'));
    write('stemma.yaml', '');
    expect(findConfigFile(directory)).toBe(join(directory, 'stemma.yaml'));
  });

  it('may be empty', async () => {
    expect(await loadConfigFile(write('stemma.yaml', '# nothing\n'))).toEqual({});
  });

  it('with a mistake names the place and the key that was meant', async () => {
    const file = write('stemma.yaml', 'agents:\n  codex:\n    driver: codex\n    sandbx: full\n');
    await expect(loadConfigFile(file)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      data: { file, line: 4, column: 5, key: 'agents.codex.sandbx', nearest: 'sandbox' },
    });
  });

  it('that cannot be read is a mistake in the configuration', async () => {
    const file = join(directory, 'none.yaml');
    await expect(loadConfigFile(file)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: `The configuration ${file} cannot be read: there is no such file.`,
    });
  });

  it('that is too large to be one is refused before it is read whole', async () => {
    await expect(loadConfigFile('/dev/zero')).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringMatching(/larger than \d+ bytes/),
    });
    await expect(loadRunFile('/dev/zero', directory)).rejects.toMatchObject({ code: 'INVALID_CONFIG' });
  });

  it('with a mistake that is found later has its place told too', async () => {
    const file = write('stemma.yaml', 'agents:\n  my.own:\n    driver: codx\n');
    const mistake = (key: string) => async (): Promise<never> => {
      throw new StemmaError('INVALID_CONFIG', 'no such driver', { key, nearest: 'codex' });
    };
    await expect(withPlaces(file, mistake('agents.my.own.driver'))).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      data: { file, line: 3, column: 13, key: 'agents.my.own.driver', nearest: 'codex' },
    });
    await expect(withPlaces(file, mistake('agents.my.own.command'))).rejects.toMatchObject({
      data: { line: 2, key: 'agents.my.own.command' },
    });
    const later = write('run.yaml', 'agent: demo\ncwd: nowhere\n');
    const nowhere = async (): Promise<never> => {
      throw new StemmaError('INVALID_INPUT', 'no such directory', { key: 'cwd' });
    };
    await expect(withPlaces(later, nowhere)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      data: { line: 2, column: 6, key: 'cwd' },
    });
    for (const key of ['agents.other.driver', 'server.host', 'STEMMA_LOG'])
      await expect(withPlaces(file, mistake(key))).rejects.toMatchObject({ data: { key, nearest: 'codex' } });
    await expect(withPlaces(undefined, mistake('x'))).rejects.toMatchObject({ data: { key: 'x' } });
  });
});
