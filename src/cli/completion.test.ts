import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Bench } from '../../test/cli/bench.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-completion-'));
let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(async () => {
  await bench.close();
  rmSync(directory, { recursive: true, force: true });
});

const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

async function fileOf(shell: string): Promise<string> {
  const { code, out } = await bench.stemma('completion', shell);
  expect(code).toBe(0);
  const file = join(directory, `stemma.${shell}`);
  writeFileSync(file, out);
  return file;
}

/** What bash offers behind these words, of which the last one is begun. */
function offered(file: string, ...words: string[]): string[] {
  const line = ['stemma', ...words].map((word) => `'${word}'`).join(' ');
  const asked = `set -u; source '${file}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _stemma; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const said = execFileSync('bash', ['--norc', '--noprofile', '-c', asked], { encoding: 'utf8' });
  return said.split('\n').filter((word) => word !== '');
}

it.skipIf(!isThere('bash'))(
  'in bash offers verbs, what is below them, options and their values',
  async () => {
    const file = await fileOf('bash');
    expect(offered(file, 'wor')).toEqual(['workflow']);
    expect(offered(file, '')).toEqual(expect.arrayContaining(['up', 'send', 'completion']));
    expect(offered(file, '')).not.toContain('--json');
    expect(offered(file, 'workflow', 'ru')).toEqual(['run', 'runs']);
    // Options in between, and a word that is no verb, change nothing.
    expect(offered(file, '--json', 'auth', 'token', 'r')).toEqual(['revoke']);
    expect(offered(file, 'workflow', 'show', 'run_1', '--st')).toEqual(['--step']);
    expect(offered(file, 'auth', 'token', 'new', 'ci', '--scope', '')).toEqual(['read', 'operate', 'admin']);
    expect(offered(file, 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
    // Names of files are left to bash.
    expect(offered(file, 'run', 'fi')).toEqual([]);
  },
);

it.skipIf(!isThere('bash'))('is what a shell reads by eval, and leaves its settings alone', async () => {
  const file = await fileOf('bash');
  const asked = `before=$(shopt -p; set +o); eval "$(cat '${file}')"; test "$before" = "$(shopt -p; set +o)"; complete -p stemma`;
  const said = execFileSync('bash', ['--norc', '--noprofile', '-ec', asked], { encoding: 'utf8' });
  expect(said).toContain('-F _stemma stemma');
});

it.each(['zsh', 'fish'])('in %s has every verb, and is read where there is such a shell', async (shell) => {
  const file = await fileOf(shell);
  const { out } = await bench.stemma('completion', shell);
  for (const place of ['workflow', ' auth token', 'revoke', 'operate']) expect(out).toContain(place);
  if (isThere(shell)) expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' }).stderr).toBe('');
});

it('needs a shell that it knows', async () => {
  expect((await bench.stemma('completion', 'tcsh')).code).toBe(2);
});
