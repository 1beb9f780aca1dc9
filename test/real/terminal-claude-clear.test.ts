import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { readScreen } from '../../src/drivers/terminal/composer.ts';
import { isAlive } from '../../src/processes/process-identity.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import type { Keyboard } from '../../src/terminal/keyboard.ts';
import { TerminalOrder } from '../../src/terminal/terminal-order.ts';
import { TmuxTerminals } from '../../src/terminal/tmux-terminals.ts';
import { AgentBench, type Talk } from './agent-bench.ts';
import { claudeScreenKit } from './claude-screen-kit.ts';
import { findProgram } from './kit.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('\n  SKIPPED: tmux is missing. Install the package tmux.\n');
const program = hasTmux ? findProgram('claude') : undefined;

describe.skipIf(!program)('/clear at the screen of the real Claude Code', () => {
  let bench: AgentBench;
  let terminals: TmuxTerminals;
  let name = '';
  let count = 0;
  let talk: Talk;
  let keyboard: Keyboard;
  let first: string;
  beforeAll(async () => {
    bench = await AgentBench.start(claudeScreenKit, program ?? '');
    const order = new TerminalOrder();
    const settings = { clock: systemClock, dataDir: bench.directory, order, report: () => undefined };
    terminals = new TmuxTerminals(settings);
  });
  afterAll(() => bench?.stop());
  beforeEach(async () => {
    name = `clear${count++}`;
    talk = await bench.open(name);
    keyboard = terminals.keyboard(talk.request.sessionId);
    first = talk.conversation.nativeId;
    await talk.turn('Remember the word. [[say remembered]]');
  });
  afterEach(async () => void (await talk.conversation.end()));

  const seen = async (): Promise<{ text: string; isFree: boolean }> => {
    const mirror = terminals.mirror(talk.request.sessionId);
    const lines = (await mirror.look()) ?? [];
    mirror.end();
    const isFree = readScreen(lines).composer.state === 'empty';
    return { isFree, text: lines.map(({ text }) => text).join('\n') };
  };
  /** A person clears the conversation; nobody of ours needs to be there. */
  const clear = async (): Promise<void> => {
    await keyboard.submit('/clear');
    const isNew = async (): Promise<boolean> => {
      const { isFree, text } = await seen();
      return isFree && text.includes('❯ /clear') && !text.includes('●');
    };
    await expect.poll(isNew, { timeout: 10_000 }).toBe(true);
  };
  const isHeard = (text: string): boolean =>
    bench.model.log.some((event) => JSON.stringify(event).includes(text));
  const position = (): number => Math.max(...talk.events.map((event) => event.position));

  test('the new conversation is followed: what is sent and typed there is told, and positions count on', async () => {
    await clear();
    await expect.poll(() => talk.conversation.nativeId).not.toBe(first);
    const end = await talk.turn('In the new one. [[say new]]');
    expect(end).toMatchObject({ status: 'succeeded', answer: 'new' });
    expect(end.position).toBeGreaterThan(talk.all('turnEnded')[0]?.position ?? 0);
    await keyboard.submit('typed there [[say typed]]');
    await talk.event('turnEnded', ({ answer }) => answer === 'typed');
    expect(talk.all('turnStarted').map(({ typed }) => typed?.text)).toContain('typed there [[say typed]]');
    expect(talk.all('noise')).toEqual([]);
    const { nativeId } = talk.conversation;
    const before = position();
    await bench.restart(talk);
    talk = await bench.open(name, { nativeId: first, position: before });
    expect([talk.how, talk.conversation.nativeId]).toEqual(['adopted', nativeId]);
    expect(await talk.turn('Adopted. [[say again]]')).toMatchObject({ answer: 'again' });
    expect(talk.all('turnStarted')).toHaveLength(1);
  });

  test('also when nobody of ours was there, and when the agent died meanwhile: nothing is run twice', async () => {
    const before = position();
    await bench.restart(talk);
    await clear();
    await keyboard.submit(`Typed alone in ${name}. [[say alone]]`);
    await expect.poll(() => isHeard(`Typed alone in ${name}.`), { timeout: 10_000 }).toBe(true);
    talk = await bench.open(name, { nativeId: first, position: before });
    await talk.event('turnEnded', ({ answer }) => answer === 'alone');
    expect(talk.all('turnStarted').map(({ typed }) => typed?.text)).toEqual([
      `Typed alone in ${name}. [[say alone]]`,
    ]);
    const second = talk.conversation.nativeId;
    const id = bench.deliveryId();
    // We die while we type.
    const sent = talk.conversation.start({ id, text: `Only once in ${name}. [[say once]]` });
    await expect.poll(() => isHeard(`Only once in ${name}.`), { timeout: 10_000 }).toBe(true);
    await bench.restart(talk);
    await sent;
    await expect.poll(async () => (await seen()).text.includes('● once'), { timeout: 10_000 }).toBe(true);
    await clear();
    const agent = await readRecord(join(bench.directory, 'sessions', `ses_${name}`, 'terminal'));
    process.kill(agent?.pid ?? 0, 'SIGKILL');
    await expect.poll(() => agent && isAlive(agent)).toBe(false);
    talk = await bench.open(name, { nativeId: second, position: before, unresolved: [id] });
    // Of a conversation in which nothing was said Claude Code may have a record already, or not.
    expect(['started', 'resumed']).toContain(talk.how);
    expect([first, second]).not.toContain(talk.conversation.nativeId);
    expect(await talk.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await talk.turn('Alive. [[say alive]]')).toMatchObject({ answer: 'alive' });
  });
});
