import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { ask } from '../../ledger/questions.ts';
import { recount } from '../../ledger/recount.ts';
import { dumpOf } from '../conformance/dump.ts';
import { deciding, execution, id, registering, settling } from '../conformance/rows.ts';
import { hasNodeSqlite, openDatabase } from './driver.ts';
import { openSqliteStore, openStoreOn } from './store.ts';

const libraries = hasNodeSqlite() ? (['libsql', 'node'] as const) : (['libsql'] as const);

describe.each(libraries)('trouble on %s', (library) => {
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-trouble-'));
    file = join(directory, 'stemma.db');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('a full disk refuses the whole commit, keeps what was stored, and goes on when there is room', async () => {
    const db = await openDatabase(file, library);
    const store = openStoreOn(db, file, systemClock, Math.random);
    await store.decide(deciding(registering(execution(1))));
    const pages = Number(db.prepare('PRAGMA page_count').row([])?.[0]);
    db.exec(`PRAGMA max_page_count = ${pages + 20}`);
    const large = { result: 'x'.repeat(200_000) };
    const child = (n: number) => registering(execution(n, execution(1)));
    const results = await Promise.allSettled([
      store.decide(deciding(child(2))),
      store.decide(deciding([...child(3), settling(3, large)])),
      store.decide(deciding(child(4))),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'DISK_FULL', data: { path: file } },
      });
    }
    expect((await store.read(() => ask('execution', id.execution(1))))?.open).toBe(0);
    db.exec('PRAGMA max_page_count = 1000000');
    await store.decide(deciding(child(2)));
    expect((await store.read(() => ask('execution', id.execution(1))))?.open).toBe(1);
    await store.close();
    expect((await dumpOf(file, library)).executions.map((row) => row.open)).toEqual([1, 0]);
  });

  it.each(['commit.before', 'commit.after', 'any moment'])(
    'kill -9 at %s: every answered decision is stored, whole, and the counts are right',
    async (moment) => {
      const answered = await killed(file, library, moment);
      const store = await openSqliteStore({ file, clock: systemClock, random: Math.random, library });
      const dump = await dumpOf(file, library);
      const stored = new Set<string>(dump.executions.map((row) => row.id));
      expect(answered.length).toBeGreaterThan(20);
      expect(answered.filter((each) => !stored.has(each))).toEqual([]);
      const counts = recount(dump);
      expect(dump.executions.filter((row) => row.open !== counts.get(row.id))).toEqual([]);
      // Registration and event are one commit, and so are settlement and closing.
      const told = new Map(
        dump.events.map((event) => [`${event.type} ${String(event.data['executionId'])}`, event]),
      );
      for (const row of dump.executions) {
        expect(told.has(`execution.registered ${row.id}`)).toBe(true);
        expect(told.has(`execution.closed ${row.id}`)).toBe(row.closed);
        expect(row.closed).toBe(row.endedAt !== null && row.open === 0);
      }
      expect(dump.events.map((event) => event.sequence)).toEqual(dump.events.map((_, i) => i + 1));
      await store.decide(deciding(registering(execution(1))));
      await store.close();
    },
  );
});

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A process that decides in many loops, says which decisions were answered, and dies by SIGKILL. */
function program(file: string, library: string, moment: string): string {
  const imports = (names: string, path: string): string =>
    `import { ${names} } from ${JSON.stringify(here(path))};`;
  return [
    `import { writeSync } from 'node:fs';`,
    imports('systemClock', '../../base/clock.ts'),
    imports('onFaultPoint', '../../base/faults.ts'),
    imports('Ids', '../../base/ids.ts'),
    imports('launch', '../../ledger/launch.ts'),
    imports('settle', '../../ledger/settle.ts'),
    imports('openSqliteStore', './store.ts'),
    `const store = await openSqliteStore(${JSON.stringify({ file, library })
      .slice(0, -1)
      .concat(', clock: systemClock, random: Math.random }')});`,
    `const ids = new Ids(Date.now, Math.random);`,
    `let commits = 0;`,
    `onFaultPoint((point) => {`,
    `  if (point === ${JSON.stringify(moment)} && ++commits === 12) process.kill(process.pid, 'SIGKILL');`,
    `});`,
    `const now = Date.now;`,
    `async function loop() {`,
    `  const root = ids.make('execution');`,
    `  const start = (id, caller) => store.decide(() => launch({ now: now(), id, caller, kind: 'outside', name: 'x' }));`,
    `  await start(root, { by: 'person' });`,
    `  for (;;) {`,
    `    const id = ids.make('execution');`,
    `    const noticeId = ids.make('notice');`,
    `    await start(id, { by: 'execution', executionId: root });`,
    `    writeSync(1, id + '\\n');`,
    `    await store.decide(() => settle({ now: now(), id, noticeId, ending: { state: 'succeeded', result: 'r'.repeat(500) } }));`,
    `  }`,
    `}`,
    `for (let i = 0; i < 16; i++) void loop();`,
  ].join('\n');
}

/** Runs it until it is dead, and answers the ids of the decisions that it saw answered. */
async function killed(file: string, library: string, moment: string): Promise<string[]> {
  const path = join(file, '..', 'program.mts');
  writeFileSync(path, program(file, library, moment));
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8');
  const signal = await new Promise((resolve) => {
    child.stdout.on('data', (text: string) => {
      output += text;
      if (moment === 'any moment' && output.length > 31 * 400) child.kill('SIGKILL');
    });
    child.on('close', (_, how) => resolve(how));
  });
  expect(signal).toBe('SIGKILL');
  return output.split('\n').filter((line) => line.length === 30);
}
