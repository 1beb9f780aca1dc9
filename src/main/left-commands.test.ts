import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { scriptDriver } from '../drivers/script/script-driver.ts';
import {
  deciding,
  execution,
  occurrence,
  registering,
  schedule,
  settling,
} from '../store/conformance/rows.ts';
import { MemoryStore } from '../store/memory/store.ts';
import { isAlive } from '../../test/e2e/living-processes.ts';
import { createCommands } from './commands.ts';
import { clearLeftCommands } from './left-commands.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-left-commands-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('what a server left that died between an answer and the cleaning up is cleared by the next one', async () => {
  const store = new MemoryStore({ clock: systemClock });
  const message = execution(1, null, { kind: 'message', check: 'true' });
  const [answered, asked] = [2, 3].map((n) => execution(n, message, { kind: 'step', name: 'check' }));
  const nightly = schedule(1);
  const [over, open] = [
    occurrence(1, nightly.id, { state: 'skipped', reason: 'precondition', decidedAt: 1 }),
    occurrence(2, nightly.id),
  ];
  if (!answered || !asked || !over || !open) throw new Error('there are four');
  const rows = [message, answered, asked].flatMap((row) => registering(row));
  await store.decide(deciding([...rows, settling(2)]));
  await store.decide(
    deciding([
      { do: 'insertSchedule', row: nightly },
      { do: 'insertOccurrence', row: over },
      { do: 'insertOccurrence', row: open },
    ]),
  );
  const commands = createCommands({
    driver: scriptDriver({ clock: systemClock, graceMs: 500 }),
    clock: systemClock,
    directory: (id) => join(directory, id),
    tools: () => ({ url: 'http://127.0.0.1:1/mcp', token: 'none' }),
  });
  const file = join(directory, 'left');
  for (const each of [answered, asked, over, open]) await commands.run(each, 'echo done', directory);
  rmSync(join(directory, over.id), { recursive: true });
  await commands.run(over, `sleep 600 >/dev/null 2>&1 & echo $! > ${file}`, directory);
  const pid = Number(readFileSync(file, 'utf8'));
  const { signal } = new AbortController();

  expect(await clearLeftCommands({ store, commands, directory, signal })).toBe(2);
  expect([answered, asked, over, open].map(({ id }) => existsSync(join(directory, id)))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(isAlive(pid)).toBe(false);
  expect(await clearLeftCommands({ store, commands, directory: join(directory, 'none'), signal })).toBe(0);
}, 60_000);
