#!/usr/bin/env node
/**
 * Installs the agent programs that the real-agent tests drive, at the versions whose behaviour was proved, into
 * `.agents/` (git-ignored). Running it again changes nothing. stdout is the path of each program, stderr is talk.
 *
 *   node scripts/install-agents.mjs            all of them
 *   node scripts/install-agents.mjs codex pi   these
 *
 * They are other people's programs under licences of their own, which npm puts beside them; nothing of them is part of
 * this project. Claude Code's licence is proprietary: it is used where it is installed, and never passed on.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Exact versions only: with a range, npm would pick whatever is newest on the day of the run. */
const agents = [
  { package: '@openai/codex', version: '0.171.0', program: 'codex', licence: 'Apache-2.0' },
  { package: '@anthropic-ai/claude-code', version: '2.1.332', program: 'claude', licence: 'proprietary' },
  { package: 'opencode-ai', version: '1.18.33', program: 'opencode', licence: 'MIT' },
  { package: '@earendil-works/pi-coding-agent', version: '0.74.2', program: 'pi', licence: 'MIT' },
  { package: '@google/gemini-cli', version: '0.61.0', program: 'gemini', licence: 'Apache-2.0' },
  { package: '@qwen-code/qwen-code', version: '0.15.10', program: 'qwen', licence: 'Apache-2.0' },
];

const directory = join(dirname(fileURLToPath(import.meta.url)), '..', '.agents');

function programOf(agent) {
  return join(directory, 'node_modules', '.bin', agent.program);
}

function isInstalled(agent) {
  const manifest = join(directory, 'node_modules', ...agent.package.split('/'), 'package.json');
  const version = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
  return version === agent.version && answers(programOf(agent));
}

function answers(program) {
  const run = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 30_000 });
  return run.status === 0;
}

// One call for all: two would each undo what the other did not know of.
function install(wanted) {
  mkdirSync(directory, { recursive: true });
  const manifest = join(directory, 'package.json');
  // A manifest of its own keeps npm from climbing up and installing into the project.
  if (!existsSync(manifest)) writeFileSync(manifest, '{"name":"stemma-agents","private":true}\n');
  const names = wanted.map((agent) => `${agent.package}@${agent.version}`);
  for (const agent of wanted) console.error(`installing ${agent.package}@${agent.version} (${agent.licence})`);
  const args = ['install', '--no-audit', '--no-fund', '--save-exact', ...names];
  const run = spawnSync('npm', args, { cwd: directory, stdio: ['ignore', 2, 2] });
  if (run.status !== 0) console.error(`npm could not install ${names.join(' ')} (exit ${run.status ?? run.signal})`);
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !agents.some((agent) => agent.program === name));
if (unknown.length > 0) {
  console.error(`no such agent: ${unknown.join(', ')}; there are ${agents.map((agent) => agent.program).join(', ')}`);
  process.exit(2);
}
const chosen = agents.filter((agent) => names.length === 0 || names.includes(agent.program));
const missing = chosen.filter((agent) => !isInstalled(agent));
if (missing.length > 0) install(missing);
const failed = missing.filter((agent) => !isInstalled(agent));
for (const agent of failed) console.error(`${programOf(agent)} does not answer --version on this machine; its tests are skipped`);
for (const agent of chosen) if (!failed.includes(agent)) console.log(programOf(agent));
process.exit(failed.length > 0 ? 1 : 0);
