// Compiles the benches (a loader that compiles on the fly slows the code it loads) and runs those that are named, or all.
// node bench/run.mjs [durable] [concurrent] [cascade] [lag] [advance] [rows] [server] [schedules] [workflows] [agents] [page]     STEMMA_SQLITE=libsql|node forces a library
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const out = join(root, 'node_modules', '.cache', 'stemma-bench');
execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', here], {
  stdio: 'inherit',
});
const all = ['durable', 'concurrent', 'cascade', 'lag', 'advance', 'rows', 'server', 'schedules', 'workflows'];
// Not among all: it needs the agents of scripts/install-agents.mjs. What it measures runs in processes of their own.
// Nor is the page, which needs a Chromium.
const withPrograms = ['agents', 'page'];
const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : all) {
  if (withPrograms.includes(name)) {
    const args = ['--import', 'tsx', join(here, `${name}.ts`)];
    execFileSync(process.execPath, args, { stdio: 'inherit', env: process.env });
    continue;
  }
  const file = join(out, 'bench', `${name}.js`);
  if (!existsSync(file)) throw new Error(`no bench ${name}: there are ${all.join(', ')}`);
  execFileSync(process.execPath, [file], { stdio: 'inherit', env: process.env });
}
