import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * For tests: writes `script` into `directory` and returns the command that runs the demo agent with it from the sources,
 * from whatever working directory.
 */
export function demoFromSource(directory: string, script: unknown): string[] {
  const file = join(directory, 'demo-script.json');
  writeFileSync(file, JSON.stringify(script));
  return commandFromSource(fileURLToPath(new URL('./demo-agent.program.ts', import.meta.url)), '--script', file);
}

/** The command that runs a TypeScript program of the sources. */
export function commandFromSource(program: string, ...args: readonly string[]): string[] {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/esm')).href;
  return [process.execPath, '--import', tsx, program, ...args];
}
