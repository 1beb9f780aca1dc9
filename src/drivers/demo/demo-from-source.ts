import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * For tests only: programs of this folder's neighbourhood, from the sources. Tests start dozens of them, and starting one
 * through a TypeScript loader takes three times as long as starting a compiled one; so each is compiled once for each
 * state of the sources.
 */

const sources = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Writes `script` into `directory` and returns the command that runs the demo agent with it, from whatever directory. */
export function demoFromSource(directory: string, script: unknown): string[] {
  const file = join(directory, 'demo-script.json');
  writeFileSync(file, JSON.stringify(script));
  return demoProgramFromSource('--script', file);
}

/** The command that runs the demo agent with these arguments. */
export function demoProgramFromSource(...args: readonly string[]): string[] {
  return programFromSource(new URL('./demo-agent.program.ts', import.meta.url), ...args);
}

/** The command that runs a program of the sources; it may import from `base`, `processes` and `drivers`. */
export function programFromSource(program: URL, ...args: readonly string[]): string[] {
  const path = relative(sources, fileURLToPath(program));
  const known = compiled.get(path) ?? join(compileOnce(path), path.replace(/\.ts$/, '.js'));
  compiled.set(path, known);
  return [process.execPath, known, ...args];
}

const flags = [
  '--ignoreConfig',
  '--noCheck',
  '--skipLibCheck',
  '--rewriteRelativeImportExtensions',
  '--types',
  'node',
];
flags.push('--module', 'nodenext', '--target', 'es2023', '--rootDir', sources);

const compiled = new Map<string, string>();

function compileOnce(program: string): string {
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  // Below node_modules, so that the compiled program finds its packages.
  const cache = join(typescript, '../.cache/stemma-programs');
  const target = join(cache, hashOfSources(program));
  if (existsSync(target)) return target;
  mkdirSync(cache, { recursive: true });
  const output = mkdtempSync(join(cache, 'new-'));
  const argv = [join(typescript, 'bin/tsc'), ...flags, '--outDir', output, join(sources, program)];
  execFileSync(process.execPath, argv, { stdio: 'inherit' });
  try {
    renameSync(output, target);
  } catch (error) {
    // Another test was faster; anything else is an error.
    rmSync(output, { recursive: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

function hashOfSources(program: string): string {
  const hash = createHash('sha256').update(program);
  for (const folder of ['base', 'processes', 'drivers', 'drivers/acp', 'drivers/demo']) {
    const files = readdirSync(join(sources, folder)).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    );
    for (const file of files.sort()) hash.update(file).update(readFileSync(join(sources, folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}
