import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, until } from '../../test/cli/bench.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { Tty } from './tty.ts';

/** A terminal that a test looks at and types into. */
class TestTty implements Tty {
  shown = Buffer.alloc(0);
  isTakenOver = false;
  columns = 100;
  #listeners: Parameters<Tty['takeOver']>[0] | undefined;

  size(): { columns: number; rows: number } {
    return { columns: this.columns, rows: 40 };
  }

  takeOver(listeners: Parameters<Tty['takeOver']>[0]): void {
    this.isTakenOver = true;
    this.#listeners = listeners;
  }

  write(bytes: Uint8Array): void {
    expect(this.isTakenOver).toBe(true);
    this.shown = Buffer.concat([this.shown, bytes]);
  }

  restore(): void {
    this.isTakenOver = false;
    this.#listeners = undefined;
  }

  type(bytes: string): void {
    this.#listeners?.onInput(Buffer.from(bytes, 'latin1'));
  }

  widen(columns: number): void {
    this.columns = columns;
    this.#listeners?.onResize();
  }
}

let bench: Bench;
let edge: RunningEdge;
let session: string;
let tty: TestTty;
beforeEach(async () => {
  bench = await Bench.open();
  edge = await startEdge();
  session = ((await (await edge.post('/api/v1/sessions', {})).json()) as { id: string }).id;
  tty = new TestTty();
});
afterEach(async () => {
  await edge.stop();
  await bench.close();
});

function attach(more: readonly string[] = []): ReturnType<Bench['command']> {
  const at = ['--url', edge.url, '--token', tokens.operate];
  return bench.command(['session', 'attach', session, ...at, ...more], { openTty: () => tty });
}

describe('session attach', () => {
  it('hands the terminal over, both ways, with its size', async () => {
    const command = attach();
    await until(() => tty.shown.toString() === '100x40');
    expect(command.stderr.text).toContain('Ctrl-]');
    tty.type('abc\xff');
    await until(() => tty.shown.toString('latin1') === '100x40abc\xff');
    tty.widen(130);
    await until(() => edge.terminals.sizes.at(-1)?.columns === 130);
    tty.type('\x1d');
    await command.result;
  });

  it('only watches, where that is asked for, and leaves by its key', async () => {
    const command = attach(['--read-only']);
    await until(() => tty.shown.length > 0);
    expect(command.stderr.text).toContain('to watch');
    tty.type('abc');
    await until(() => edge.terminals.dropped === 1);
    tty.type('\x1d');
    expect((await command.result).code).toBe(0);
  });

  it('leaves by its key, and what was typed before that arrives', async () => {
    const command = attach();
    await until(() => tty.shown.length > 0);
    tty.type('last\x1dnever');
    const { code, err } = await command.result;
    expect([code, tty.isTakenOver]).toEqual([0, false]);
    expect(err).toContain('Detached');
    await until(() => edge.terminals.open === 0);
  });

  it('tells why the terminal ended, and gives it back', async () => {
    const command = attach();
    await until(() => tty.shown.length > 0);
    tty.type('q');
    const { code, err } = await command.result;
    expect([code, tty.isTakenOver]).toEqual([0, false]);
    expect(err).toContain('The terminal has ended.');
  });

  it('gives the terminal back when a signal ends it', async () => {
    const command = attach();
    await until(() => tty.shown.length > 0 && command.isListening('SIGTERM'));
    command.send('SIGTERM');
    expect((await command.result).code).toBe(143);
    expect(tty.isTakenOver).toBe(false);
  });

  it('says that the server went away', async () => {
    const command = attach();
    await until(() => tty.shown.length > 0);
    edge.api.stop();
    const { code, err } = await command.result;
    expect([code, tty.isTakenOver]).toEqual([6, false]);
    expect(err).toContain('attach again');
  });

  it('takes nothing over when there is no terminal to be had', async () => {
    edge.terminals.isThere = false;
    const { code, err } = await attach().result;
    expect([code, tty.isTakenOver]).toEqual([5, false]);
    expect(err).toContain('No screen here.');
  });

  it('says that no server is there', async () => {
    const argv = ['session', 'attach', session, '--url', 'http://127.0.0.1:1', '--token', 'x'];
    const { code, err } = await bench.command(argv, { openTty: () => tty }).result;
    expect(code).toBe(6);
    expect(err).toContain('does not answer');
  });

  it('needs a terminal, and cannot be JSON', async () => {
    const piped = await bench.stemma('session', 'attach', session);
    expect(piped).toMatchObject({ code: 2 });
    expect(piped.err).toContain('run it at one');
    expect((await attach(['--json']).result).code).toBe(2);
  });
});
