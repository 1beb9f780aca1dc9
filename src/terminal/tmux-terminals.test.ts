import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { Ids, type SessionId } from '../base/ids.ts';
import type { ScreenCommand } from '../drivers/port.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../processes/process-identity.ts';
import { readRecord } from '../processes/recorded-launch.ts';
import type { View } from './port.ts';
import { Tmux } from './tmux.ts';
import { TerminalOrder } from './terminal-order.ts';
import { TmuxTerminals } from './tmux-terminals.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('\n  SKIPPED: tmux is missing. Install the package tmux.\n');

const ids = new Ids(Date.now, Math.random);
let directory: string;
let terminals: TmuxTerminals;
let session: SessionId;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-terminal-'));
  terminals = newTerminals(directory);
  session = ids.make('session');
});
afterEach(async () => {
  terminals.detach();
  await terminals.reap(new Set());
  rmSync(new Tmux(directory).socketPath, { force: true });
  rmSync(directory, { recursive: true, force: true });
});

function newTerminals(dataDir: string, order = new TerminalOrder()): TmuxTerminals {
  return new TmuxTerminals({ clock: systemClock, dataDir, order, report: () => undefined });
}

/** A program that says its size, answers each line, and ends at `end`. */
const program = `
echo "size $(stty size) secret $SECRET tmux \${TMUX:-none}"
while read -r line; do echo "heard $line in $(stty size)"; [ "$line" = end ] && exit 0; done`;

const screen = (): ScreenCommand => ({
  command: ['/bin/bash', '-c', program],
  cwd: directory,
  env: { SECRET: "it's secret" },
});

interface Watched {
  readonly view: View;
  readonly text: () => string;
  readonly ends: string[];
}

async function watch(by = terminals, of = session, size = { columns: 90, rows: 20 }): Promise<Watched> {
  let shown = '';
  const ends: string[] = [];
  const opened = await by.view(of, screen(), {
    size,
    onOutput: (bytes) => {
      shown += Buffer.from(bytes).toString('utf8');
    },
    onEnd: (reason) => void ends.push(reason),
  });
  if (!opened.ok) throw new Error(opened.message);
  return { view: opened.view, text: () => shown, ends };
}

async function shows(watched: Watched, what: string): Promise<void> {
  await expect.poll(() => watched.text(), { timeout: 10_000 }).toContain(what);
}

async function processOf(of = session, dataDir = directory): Promise<ProcessIdentity> {
  const record = await readRecord(join(dataDir, 'sessions', of, 'terminal'));
  if (!record) throw new Error('there is no record');
  return record;
}

describe.skipIf(!hasTmux)('a terminal in tmux', () => {
  it('is closed before another begins in its place, whoever begins it', async () => {
    const order = new TerminalOrder();
    const [closer, opener] = [newTerminals(directory, order), newTerminals(directory, order)];
    await opener.run(session, screen());
    const old = await processOf();
    const closed = closer.close(session);
    expect(await opener.processIn(session)).toBeUndefined();
    void closer.close(session);
    expect(await opener.run(session, screen())).toBeUndefined();
    await closed;
    const begun = await opener.processIn(session);
    expect([isAlive(old), begun && isAlive(begun)]).toEqual([false, true]);
  });

  it('shows its program, in the size of the viewer, and hands over what is typed', async () => {
    const watched = await watch();
    await shows(watched, "size 20 90 secret it's secret tmux none");
    watched.view.write(Buffer.from('hello\r'));
    await shows(watched, 'heard hello in 20 90');
    watched.view.resize({ columns: 100, rows: 25 });
    await expect
      .poll(() => {
        watched.view.write(Buffer.from('again\r'));
        return watched.text();
      })
      .toContain('heard again in 25 100');
  });

  it('is watched without being opened, typed into or given another size', async () => {
    let shown = '';
    const viewer = {
      size: { columns: 50, rows: 10 },
      onOutput: (bytes: Uint8Array) => {
        shown += Buffer.from(bytes).toString('utf8');
      },
      onEnd: () => undefined,
    };
    expect(await terminals.watch(session, viewer)).toEqual({ ok: false, message: expect.any(String) });
    const watched = await watch();
    await shows(watched, 'size 20 90');
    const opened = await terminals.watch(session, viewer);
    if (!opened.ok) throw new Error(opened.message);
    opened.view.write(Buffer.from('mine\r'));
    await expect.poll(() => shown, { timeout: 10_000 }).toContain('size 20 90');
    watched.view.write(Buffer.from('yours\r'));
    await expect.poll(() => shown, { timeout: 10_000 }).toContain('heard yours in 20 90');
    expect(watched.text()).not.toContain('mine');
    opened.view.end();
    watched.view.write(Buffer.from('still\r'));
    await shows(watched, 'heard still in 20 90');
  });

  it('takes a text of ours in one piece, whatever a person types at the same moment', async () => {
    const watched = await watch();
    await shows(watched, 'size');
    const ours = Array.from({ length: 20 }, (_, i) => `ours${i}.${'o'.repeat(30)}.`);
    let isOver = false;
    const person = (async () => {
      while (!isOver) {
        watched.view.write(Buffer.from('p'));
        // A line that is not submitted holds no more than 4,096 characters.
        await delay(2);
      }
    })();
    for (const text of ours) expect(await terminals.keyboard(session).submit(text)).toBe(true);
    isOver = true;
    await person;
    watched.view.write(Buffer.from('\r'));
    // A view is what is drawn now; the words are in the history of the terminal too.
    const heard = async (): Promise<string> => {
      const all = ['capture-pane', '-p', '-J', '-S', '-', '-t', `=${session}:`];
      const captured = await new Tmux(directory).run(all);
      return captured.ok ? captured.output : '';
    };
    // The keys of a person are drawn where they happen to come, but not within what the program says at once.
    const isHeard = async (): Promise<boolean> => {
      const told = await heard();
      return ours.every((text) => new RegExp(`heard p*${text} in`).test(told));
    };
    await expect.poll(isHeard, { timeout: 10_000 }).toBe(true);
  });

  it('hands every key over: none is a key of tmux', async () => {
    const watched = await watch();
    await shows(watched, 'size');
    watched.view.write(Buffer.from('\x02d\r'));
    await shows(watched, 'heard');
    expect(watched.ends).toEqual([]);
  });

  it('keeps its environment to itself', async () => {
    const watched = await watch();
    await shows(watched, 'secret');
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain("it's secret");
    expect(existsSync(join(directory, 'sessions', session, 'terminal', 'launch.sh'))).toBe(false);
  });

  it('is one for all who look, and lives on when they leave', async () => {
    const [first, second] = await Promise.all([watch(), watch()]);
    await shows(first, 'size');
    first.view.write(Buffer.from('both\r'));
    await Promise.all([shows(first, 'heard both'), shows(second, 'heard both')]);
    const living = await processOf();
    first.view.end();
    second.view.end();
    const third = await watch();
    await shows(third, 'heard both');
    expect(isAlive(living)).toBe(true);
  });

  it('is found again by the next server, which ends what nobody owns any more', async () => {
    const kept = ids.make('session');
    await watch();
    await watch(terminals, kept);
    const [lost, living] = [await processOf(), await processOf(kept)];
    terminals.detach();
    const next = newTerminals(directory);
    await next.reap(new Set([kept]));
    expect([isAlive(lost), isAlive(living)]).toEqual([false, true]);
    await shows(await watch(next, kept), 'size');
    expect(await processOf(kept)).toEqual(living);
  });

  it('of another data directory is left alone, also where both have their sockets in one place', async () => {
    const [own, other] = ['own', 'other'].map((name) => join(directory, name.padEnd(100, 'x'))) as [
      string,
      string,
    ];
    for (const path of [own, other]) mkdirSync(path);
    const [mine, theirs] = [newTerminals(own), newTerminals(other)];
    await watch(theirs);
    await mine.reap(new Set());
    await mine.close(session);
    const living = await processOf(session, other);
    expect(isAlive(living)).toBe(true);
    theirs.detach();
    await theirs.reap(new Set());
    expect(isAlive(living)).toBe(false);
    for (const path of [own, other]) rmSync(new Tmux(path).socketPath, { force: true });
  });

  it('ends with everything in it', async () => {
    await watch();
    const living = await processOf();
    const watched = await watch();
    await terminals.close(session);
    expect(isAlive(living)).toBe(false);
    await expect.poll(() => watched.ends.length).toBe(1);
    await terminals.close(session);
  });

  it('whose program is dead is opened anew, also before tmux has seen it', async () => {
    await terminals.run(session, screen());
    const dead = await processOf();
    await new Tmux(directory).run(['set-option', '-t', `=${session}:`, 'remain-on-exit', 'on']);
    process.kill(dead.pid, 'SIGKILL');
    await expect.poll(() => isAlive(dead)).toBe(false);
    expect(await terminals.processIn(session)).toBeUndefined();
    expect(await terminals.run(session, screen())).toBeUndefined();
    expect(await terminals.processIn(session)).toBeDefined();
  });

  it('whose program has ended says so, and is opened anew', async () => {
    const watched = await watch();
    await shows(watched, 'size');
    const first = await processOf();
    watched.view.write(Buffer.from('end\r'));
    await expect.poll(() => watched.ends).toHaveLength(1);
    await shows(await watch(), 'size');
    expect(await processOf()).not.toEqual(first);
  });

  it('is opened anew after tmux was killed, and what was left of it is ended', async () => {
    await shows(await watch(), 'size');
    const old = await processOf();
    const tmux = new Tmux(directory);
    const pid = await tmux.run(['display-message', '-p', '-t', `=${session}:`, '#{pid}']);
    const server = identityOf(Number(pid.ok && pid.output.trim()));
    process.kill(server?.pid ?? 0, 'SIGKILL');
    await expect.poll(() => server && isAlive(server)).toBe(false);
    await shows(await watch(), 'size');
    expect(isAlive(old)).toBe(false);
    expect(await processOf()).not.toEqual(old);
  });

  it('cannot be had for a program that is missing, or that ends at once', async () => {
    const viewer = { size: { columns: 80, rows: 24 }, onOutput: () => undefined, onEnd: () => undefined };
    const missing = { command: ['no-such-program'], cwd: directory, env: {} };
    expect(await terminals.view(session, missing, viewer)).toMatchObject({
      ok: false,
      message: expect.stringContaining('no-such-program'),
    });
    const elsewhere = { ...screen(), cwd: join(directory, 'nowhere') };
    expect(await terminals.view(session, elsewhere, viewer)).toMatchObject({ ok: false });
  });
});

describe('without tmux', () => {
  it('there are no terminals, and the message says which package to install', async () => {
    const before = process.env['PATH'];
    process.env['PATH'] = directory;
    try {
      const opened = await newTerminals(directory).view(
        session,
        { command: ['/bin/sh'], cwd: directory, env: {} },
        { size: { columns: 80, rows: 24 }, onOutput: () => undefined, onEnd: () => undefined },
      );
      expect(opened).toMatchObject({ ok: false, message: expect.stringContaining('apt-get install tmux') });
    } finally {
      process.env['PATH'] = before;
    }
  });
});
