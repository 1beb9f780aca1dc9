// The production set of the lockfile: no install scripts, nothing that excludes Node 20, no addresses of a registry.
import { readFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const problems = [];
let seen = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.dev) continue;
  seen++;
  if (entry.hasInstallScript) problems.push(`${path} has an install script`);
  const node = entry.engines?.node;
  if (node && !node.includes('||') && /^[\^~>=v\s]*(2[1-9]|[3-9]\d)/.test(node)) problems.push(`${path} needs node ${node}`);
}
for (const entry of Object.values(lock.packages)) {
  if (entry.resolved?.startsWith('http')) problems.push(`an address in the lockfile: ${new URL(entry.resolved).pathname}`);
}
if (seen === 0) problems.push('the lockfile names no production package');
for (const problem of problems) console.error(problem);
console.log(`${seen} production packages looked at, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
