#!/usr/bin/env node
/**
 * Installs the agent programs that the real-agent tests drive, at the versions whose behaviour was proved, into
 * `.agents/` (git-ignored). Running it again changes nothing. stdout is the path of each program, stderr is talk.
 *
 *   node scripts/install-agents.mjs
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Exact versions only: with a range, npm would pick whatever is newest on the day of the run. */
const agents = [{ package: '@openai/codex', version: '0.171.0', program: 'codex' }];

const directory = join(dirname(fileURLToPath(import.meta.url)), '..', '.agents');

function installedVersion(name) {
  const manifest = join(directory, 'node_modules', ...name.split('/'), 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

function answers(program) {
  const run = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  return run.status === 0;
}

function install(agent) {
  mkdirSync(directory, { recursive: true });
  const manifest = join(directory, 'package.json');
  // A manifest of its own keeps npm from climbing up and installing into the project.
  if (!existsSync(manifest)) writeFileSync(manifest, '{"name":"stemma-agents","private":true}\n');
  const wanted = `${agent.package}@${agent.version}`;
  console.error(`installing ${wanted} into ${directory}`);
  const run = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--save-exact', wanted], {
    cwd: directory,
    stdio: ['ignore', 2, 2],
  });
  if (run.status !== 0) {
    console.error(`npm could not install ${wanted} (exit ${run.status ?? run.signal}); the tests that need it will be skipped`);
    process.exit(1);
  }
}

for (const agent of agents) {
  const program = join(directory, 'node_modules', '.bin', agent.program);
  if (installedVersion(agent.package) !== agent.version || !answers(program)) install(agent);
  if (!answers(program)) {
    console.error(`${program} is installed but does not answer --version on this machine`);
    process.exit(1);
  }
  console.log(program);
}
