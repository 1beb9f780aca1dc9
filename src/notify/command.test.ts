import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendingParts } from '../../test/notify/outbox.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Notification } from '../ledger/notification.ts';
import { isAlive, identityOf } from '../processes/process-identity.ts';
import { notification } from '../store/conformance/rows.ts';
import type { Attempt } from './port.ts';
import { createTarget } from './targets.ts';

describe('a command', () => {
  let directory: string;
  let clock: VirtualClock;
  const run = (
    command: string | readonly string[],
    rows: readonly Notification[] = [notification(1)],
    signal = new AbortController().signal,
  ): Promise<Attempt> => {
    const env = { PATH: process.env['PATH'], STEMMA_TOKEN: 'not for it' };
    const target = createTarget({ command, timeout: 3_000 }, sendingParts(clock, { directory, env }));
    return target.send({ id: rows[0]?.id ?? '', target: 'local', notifications: rows }, signal);
  };
  const kept = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const isKept = (name: string): boolean => {
    try {
      return kept(name).endsWith('\n');
    } catch {
      return false;
    }
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-notify-command-'));
    clock = new VirtualClock();
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('has the event on its stdin and what a shell wants in its environment, and nothing of ours', async () => {
    const row = notification(1, { name: 'nightly\n$(touch gone)', text: 'why' });
    const script = 'cat > event; env > env; echo "$STEMMA_TITLE" > title';
    expect(await run(script, [row])).toEqual({ ok: true });
    expect(JSON.parse(kept('event'))).toMatchObject({
      id: row.id,
      specversion: '1.0',
      data: { text: 'why' },
    });
    expect(kept('title')).toBe('nightly $(touch gone) missed its time\n');
    expect(kept('env')).toContain('STEMMA_TRANSITION=missed\n');
    expect(kept('env')).toContain('STEMMA_TARGET=local\n');
    expect(kept('env')).not.toContain('STEMMA_TOKEN');
    expect(isKept('gone')).toBe(false);
  });

  it('may be a program with arguments, and need not read what it is told', async () => {
    const rows = Array.from({ length: 500 }, (_, i) =>
      notification(i, { text: 'x'.repeat(2_000), name: `n${i}` }),
    );
    expect(await run(['true', '; false'], rows)).toEqual({ ok: true });
  });

  it('that fails says how, with the last of what it said', async () => {
    const attempt = await run('echo first >&2; echo "no\u001b[31m way" >&2; exit 3');
    expect(attempt).toMatchObject({ ok: false, kind: 'refused' });
    expect(attempt.ok ? '' : attempt.message).toBe('the command ended with exit code 3: first no way');
  });

  it('that does not exist is no crash', async () => {
    expect(await run(['no-such-program-here'])).toMatchObject({ ok: false, kind: 'down' });
    const told = { ok: false, kind: 'down', message: 'the command cannot be run (ENOTDIR)' };
    expect(await run(['/etc/passwd/no-directory'])).toEqual(told);
  });

  it('that hangs is ended at its time limit, with everything in its group', async () => {
    const attempt = run('sleep 1000 & echo $! > inner; echo $$ > outer; wait');
    await until(() => isKept('inner') && isKept('outer'));
    const identities = ['inner', 'outer'].map((name) => identityOf(Number(kept(name))));
    for (const identity of identities) expect(identity).toBeDefined();
    clock.advance(3_000);
    expect(await attempt).toMatchObject({ ok: false, kind: 'down' });
    await until(() => identities.every((identity) => !identity || !isAlive(identity)));
  });

  it('leaves nothing behind when it ends well, nor when the server stops', async () => {
    const stopping = new AbortController();
    const first = await run('sleep 1000 >/dev/null 2>&1 & echo $! > left; exit 0');
    expect(first).toEqual({ ok: true });
    const second = run('echo $$ > running; sleep 1000', [notification(1)], stopping.signal);
    await until(() => isKept('running'));
    stopping.abort();
    expect(await second).toMatchObject({ ok: false, kind: 'down' });
    await until(() => identityOf(Number(kept('left'))) === undefined);
    await until(() => identityOf(Number(kept('running'))) === undefined);
  });
});

/** Waits for a condition, with a deadline of real time. */
async function until(what: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!what()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${String(what)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
