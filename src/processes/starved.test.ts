import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

// Takes every descriptor there is, looks, gives them back, and looks again.
const program = `
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { systemClock as clock } from ${link('../base/clock.ts')};
import { endGroup } from ${link('./group.ts')};
import { identityOf, isAlive } from ${link('./process-identity.ts')};
import { adoptStdio } from ${link('./durable-stdio.ts')};
const child = spawn('sleep', ['600'], { detached: true });
await once(child, 'spawn');
const identity = identityOf(child.pid);
const directory = mkdtempSync(tmpdir() + '/stemma-starved-');
writeFileSync(directory + '/process.json', JSON.stringify(identity));
const taken = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {}
const adopted = await adoptStdio(directory, clock).catch(({ code }) => code);
const starved = { isAlive: isAlive(identity), adopted, end: await endGroup(identity, { clock, graceMs: 0, killMs: 0 }) };
for (const fd of taken) closeSync(fd);
rmSync(directory, { recursive: true });
const after = { wasAlive: isAlive(identity), end: await endGroup(identity, { clock, graceMs: 0 }), isAlive: isAlive(identity) };
writeSync(1, JSON.stringify({ starved, after }));
`;

function link(file: string): string {
  return JSON.stringify(new URL(file, import.meta.url).href);
}

test('a look at the machine that fails is no proof of death', () => {
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', program];
  const ran = spawnSync('sh', ['-c', 'ulimit -n 512; exec "$@"', 'sh', ...node], { encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  expect(JSON.parse(ran.stdout)).toEqual({
    starved: { isAlive: true, adopted: 'EMFILE', end: 'unkillable' },
    after: { wasAlive: true, end: 'dead', isAlive: false },
  });
});
