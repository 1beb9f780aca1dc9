import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Compiles one file that imports nothing of this project. The caller removes `directory` when no such program runs any more. */
export function compileProgram(source: URL): {
  readonly command: readonly string[];
  readonly directory: string;
} {
  const path = fileURLToPath(source);
  const directory = mkdtempSync(join(tmpdir(), 'stemma-program-'));
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const flags = ['--ignoreConfig', '--noCheck', '--skipLibCheck', '--types', 'node'];
  flags.push('--module', 'nodenext', '--target', 'es2023', '--outDir', directory);
  execFileSync(process.execPath, [join(typescript, 'bin/tsc'), ...flags, path], { stdio: 'inherit' });
  return { command: [process.execPath, join(directory, basename(path).replace(/\.ts$/, '.js'))], directory };
}
