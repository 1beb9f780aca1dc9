import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * The program under test is the compiled one, as people run it: compiled once for each state of the sources, so that no
 * test ever runs against a `dist` that somebody forgot to build.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Compiled states of the sources that nobody has used for this long are removed. Milliseconds. */
const keptMs = 3_600_000;

let known: string | undefined;

/**
 * The file that is `stemma`. Compiles the sources if this state of them was not compiled yet; `STEMMA_E2E_BUILD` names a
 * directory that was compiled before, to look at one state while the sources go on.
 */
export function builtProgram(): string {
  known ??= join(process.env['STEMMA_E2E_BUILD'] ?? compiled(), 'dist', 'main', 'stemma.js');
  return known;
}

/** The command that is the demo agent alone: it starts twice as fast as the whole program with `demo-agent`. */
export function demoAgentCommand(scriptFile: string): string[] {
  const program = join(dirname(builtProgram()), '../drivers/demo/demo-agent.program.js');
  return [process.execPath, program, '--script', scriptFile];
}

function compiled(): string {
  const modules = dirname(dirname(createRequire(import.meta.url).resolve('typescript/package.json')));
  // Below node_modules, so that the compiled program finds its packages.
  const cache = join(modules, '.cache', 'stemma-e2e');
  mkdirSync(cache, { recursive: true });
  const target = join(cache, hashOfSources());
  if (existsSync(target)) return target;
  removeOld(cache);
  const draft = mkdtempSync(join(cache, 'new-'));
  compileInto(draft, join(modules, 'typescript/bin/tsc'));
  copyFileSync(join(root, 'package.json'), join(draft, 'package.json'));
  symlinkSync(join(root, 'examples'), join(draft, 'examples'));
  // The page as it was built last; the tests of the page build it anew.
  const page = join(root, 'dist', 'web');
  if (!existsSync(page)) buildPage();
  symlinkSync(page, join(draft, 'dist', 'web'));
  try {
    renameSync(draft, target);
  } catch (error) {
    // Another test was faster; anything else is an error.
    rmSync(draft, { recursive: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** Builds the page of this state of the sources. */
export function buildPage(): void {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  execFileSync(process.execPath, [vite, 'build', 'web', '--logLevel', 'warn'], {
    cwd: root,
    stdio: 'inherit',
    // Under a test runner it would be built for tests: with what React has for developers.
    env: { ...process.env, NODE_ENV: 'production' },
  });
}

function compileInto(draft: string, tsc: string): void {
  const config = join(draft, 'tsconfig.json');
  const skipped = [
    '**/*.test.ts',
    '**/*.test-suite.ts',
    'store/conformance/**',
    'drivers/acp/acp-harness.ts',
  ];
  const options = {
    extends: join(root, 'tsconfig.build.json'),
    compilerOptions: { rootDir: join(root, 'src'), outDir: join(draft, 'dist') },
    include: [join(root, 'src')],
    // Unlike what is shipped, it has the programs that are for tests only.
    exclude: skipped.map((path) => join(root, 'src', path)),
  };
  writeFileSync(config, JSON.stringify(options));
  // Types are the business of the type check: here it must run, also while one file elsewhere does not check.
  execFileSync(process.execPath, [tsc, '-p', config, '--noCheck'], { stdio: 'inherit' });
}

function hashOfSources(): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'tsconfig.build.json')));
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort())
    hash.update(file).update(readFileSync(join(root, 'src', file)));
  return hash.digest('hex').slice(0, 16);
}

function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path, { recursive: true, force: true });
  }
}
