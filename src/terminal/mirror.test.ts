import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { Ids, type SessionId } from '../base/ids.ts';
import type { Mirror } from './mirror.ts';
import { TerminalOrder } from './terminal-order.ts';
import { Tmux } from './tmux.ts';
import { TmuxTerminals } from './tmux-terminals.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('\n  SKIPPED: tmux is missing. Install the package tmux.\n');

const ids = new Ids(Date.now, Math.random);
let directory: string;
let terminals: TmuxTerminals;
let tmux: Tmux;
let session: SessionId;
let mirror: Mirror;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-mirror-'));
  execFileSync('mkfifo', [join(directory, 'fifo')]);
  const order = new TerminalOrder();
  terminals = new TmuxTerminals({ clock: systemClock, dataDir: directory, order, report: () => undefined });
  tmux = new Tmux(directory);
  session = ids.make('session');
  mirror = terminals.mirror(session);
});
afterEach(async () => {
  mirror.end();
  await terminals.reap(new Set());
  rmSync(tmux.socketPath, { force: true });
  rmSync(directory, { recursive: true, force: true });
});

const run = (program: string): Promise<string | undefined> =>
  terminals.run(session, { command: ['/bin/bash', '-c', program], cwd: directory, env: {} });

async function shown(by = mirror): Promise<string[] | undefined> {
  return (await by.look())?.map(({ text }) => text);
}

/** What tmux itself says that the screen shows. */
async function inTmux(): Promise<string[]> {
  const captured = await tmux.run(['capture-pane', '-p', '-t', `=${session}:`]);
  return captured.ok
    ? captured.output
        .split('\n')
        .slice(0, -1)
        .map((line) => line.trimEnd())
    : [];
}

async function showsTheSame(what: string): Promise<void> {
  await expect.poll(() => shown(), { timeout: 10_000 }).toContain(what);
  expect(await shown()).toEqual(await inTmux());
}

const tell = (line: string): Promise<boolean> => terminals.keyboard(session).submit(line);
/** Does as each line says. */
const obedient = 'stty -echo; printf "ready\\n"; while read -r line; do eval "$line"; done';

describe.skipIf(!hasTmux)('the mirror of a terminal', () => {
  it('shows what the screen shows: what was there before it looked, and what comes', async () => {
    await run(obedient);
    await showsTheSame('ready');
    await tell(String.raw`printf '\033[5;3H\033[2mh\303\251 \346\274\242\\x\033[0m lit\033[1;1H'`);
    await showsTheSame('  hé 漢\\x lit');
    const line = (await mirror.look())?.find(({ text }) => text.includes('lit'));
    expect(line?.lit.trim()).toBe('lit');
    const later = terminals.mirror(session);
    expect(await shown(later)).toEqual(await shown());
    later.end();
  });

  it('goes on where a program had got to: its other screen, its scroll region, half a sequence', async () => {
    await run(obedient);
    await showsTheSame('ready');
    mirror.end();
    await tell(String.raw`printf 'first\n\033[?1049h\033[Hother\n\033[3;6r\033[6;1Hlast\033[3'`);
    await expect.poll(inTmux).toContain('last');
    mirror = terminals.mirror(session);
    await showsTheSame('last');
    await tell(String.raw`printf '5mmore\ndown\ndown\n'`);
    await showsTheSame('down');
    await tell(String.raw`printf '\033[r\033[?1049lback\n'`);
    await showsTheSame('back');
  });

  it('has the size of the terminal, also when that changes while nobody looks', async () => {
    await run(obedient);
    await showsTheSame('ready');
    for (const [columns, rows] of [
      [60, 12],
      [90, 30],
      [120, 40],
    ] as const) {
      await tmux.run(['resize-window', '-t', `=${session}:`, '-x', String(columns), '-y', String(rows)]);
      await tell(`printf '\\033[${rows};${columns - 5}Hx${columns}\\033[H'`);
      await expect.poll(inTmux).toHaveLength(rows);
      await expect.poll(async () => (await inTmux()).join()).toContain(`x${columns}`);
      expect(await shown()).toEqual(await inTmux());
    }
  });

  it('keeps up with a program that writes without end, and shows its end', async () => {
    await run(obedient);
    await showsTheSame('ready');
    await tell('seq 1 400000; printf "all told"');
    await expect.poll(() => shown(), { timeout: 60_000 }).toContain('all told');
    expect(await shown()).toEqual(await inTmux());
  });

  it('ends with the terminal, and sees the next one', async () => {
    await run('printf "one"; sleep 60');
    await showsTheSame('one');
    await terminals.close(session);
    expect(await shown()).toBeUndefined();
    await run('printf "two"; sleep 60');
    await showsTheSame('two');
  });

  it('ends what a killed process of ours has left attached, and nobody else', async () => {
    await run(obedient);
    const command = new Tmux(directory).arguments('-C', 'attach-session', '-t', `=${session}`);
    // Its parent dies at once, and its pipes stay open.
    const script = `tmux "$@" <&3 >/dev/null 2>&1 & echo $!`;
    const told = spawnSync('bash', ['-c', `exec 3<>"${directory}/fifo"; ${script}`, 'bash', ...command], {
      env: { ...tmux.env },
      encoding: 'utf8',
      input: '',
    });
    const pid = Number(told.stdout.trim());
    const isListed = async (): Promise<boolean> => {
      const listed = await tmux.run(['list-clients', '-F', '#{client_pid}']);
      return listed.ok && listed.output.split('\n').includes(String(pid));
    };
    await expect.poll(isListed).toBe(true);
    await showsTheSame('ready');
    await expect.poll(isListed).toBe(false);
    const later = terminals.mirror(session);
    expect(await shown(later)).toEqual(await shown());
    later.end();
  });

  it('that was ended leaves nobody attached, and shows nothing', async () => {
    await run(obedient);
    await showsTheSame('ready');
    const clients = async (): Promise<string> => {
      const listed = await tmux.run(['list-clients', '-F', '#{client_control_mode}']);
      return listed.ok ? listed.output.trim() : 'none';
    };
    expect(await clients()).toBe('1');
    mirror.end();
    await expect.poll(clients).toBe('');
    expect(await shown()).toBeUndefined();
  });
});
