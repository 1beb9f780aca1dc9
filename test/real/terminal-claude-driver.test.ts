import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { join } from 'node:path';
import type { PrepareLaunch } from '../../src/drivers/port.ts';
import { AgentBench, type Talk } from './agent-bench.ts';
import { claudeScreenKit } from './claude-screen-kit.ts';
import { findProgram } from './kit.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('\n  SKIPPED: tmux is missing. Install the package tmux.\n');
const program = hasTmux ? findProgram('claude') : undefined;

describe.skipIf(!program)('the driver terminal with the real Claude Code', () => {
  let bench: AgentBench;
  let talk: Talk;
  beforeAll(async () => {
    bench = await AgentBench.start(claudeScreenKit, program ?? '');
    talk = await bench.open('a');
  });
  afterAll(() => bench?.stop());

  const started = async (text: string): Promise<string> => {
    const id = bench.deliveryId();
    expect(await talk.conversation.start({ id, text })).toEqual({ outcome: 'written' });
    return (await talk.event('turnStarted', (event) => event.deliveryId === id)).nativeTurnId;
  };

  test('a text of several lines, with what a terminal takes for keys, is one message', async () => {
    const end = await talk.turn('one\n\n  two \u001b[201~\u0003 three [[say all of it]]\n');
    expect(end).toMatchObject({ status: 'succeeded', answer: 'all of it' });
  });

  test('a tool call is located in its turn', async () => {
    const located = talk.turn('Use it. [[tool slow_echo {"secs":1,"text":"a"}]] [[say used]]');
    await expect.poll(() => bench.tools.calls.length).toBe(1);
    const call = { meta: bench.tools.calls[0]?.meta ?? {} };
    const { nativeTurnId } = await talk.event('turnStarted', (event) => event.position > 0);
    const answer = await talk.conversation.locate(call);
    expect(answer.state).toBe('running');
    expect(answer).not.toMatchObject({ nativeTurnId });
    await located;
    expect(await talk.conversation.locate(call)).toEqual({ state: 'ended' });
  });

  test('an interruption before the model has answered, of which nothing is told, is seen', async () => {
    const turn = await started('Taken back. [[hang 20]]');
    expect(await talk.conversation.interrupt(turn)).toBe('asked');
    const end = await talk.event('turnEnded', (event) => event.nativeTurnId === turn);
    expect(end.status).toBe('interrupted');
    expect(await talk.turn('On. [[say on]]')).toMatchObject({ status: 'succeeded' });
  });

  test('a text that would be a command is refused', async () => {
    const sent = await talk.conversation.start({ id: bench.deliveryId(), text: '/clear' });
    expect(sent).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('command') });
  });

  test('the very first turn has our tools', async () => {
    const first = await bench.open('first');
    const end = await first.turn('Use it. [[tool slow_echo {"secs":0,"text":"a"}]] [[say used]]');
    expect(end).toMatchObject({ status: 'succeeded', answer: 'used' });
    await first.conversation.end();
  });

  test('secrets are asked for at each launch and never at an adoption; nothing is launched without', async () => {
    let asked = 0;
    const prepareLaunch: PrepareLaunch = async () => {
      asked++;
      return { ok: true, env: { A_SECRET: 'only there' } };
    };
    const refused = await bench.tryOpen('b', {
      prepareLaunch: async () => ({ ok: false, message: 'the vault is closed' }),
    });
    expect(refused.opened).toMatchObject({ code: 'AGENT_UNAVAILABLE', message: 'the vault is closed' });
    const other = await bench.open('b', { prepareLaunch });
    const { pid = 0 } = (await readRecord(join(other.request.directory, '..', 'ses_b', 'terminal'))) ?? {};
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('A_SECRET=only there');
    await bench.restart(other);
    const again = await bench.open('b', { prepareLaunch, nativeId: other.conversation.nativeId });
    expect([again.how, asked]).toEqual(['adopted', 1]);
    await again.conversation.end();
  });

  test('an agent that is killed in its turn is told as dead, and its conversation is had again', async () => {
    await started('Killed. [[shell sleep 20; echo x]]');
    await talk.event('item', ({ item }) => item.kind === 'toolCall' && item.text.includes('sleep 20'));
    const agent = await readRecord(join(talk.request.directory, '..', 'ses_a', 'terminal'));
    process.kill(agent?.pid ?? 0, 'SIGKILL');
    const { position } = await talk.event('exited');
    const { nativeId } = talk.conversation;
    const none = await bench.tryOpen('a', { nativeId, position, adoptOnly: true });
    expect(none.opened).toMatchObject({ ok: false, code: 'NOT_RUNNING' });
    talk = await bench.open('a', { nativeId, position });
    expect(talk.how).toBe('resumed');
    expect(await talk.turn('Again. [[say again]]')).toMatchObject({ status: 'succeeded', answer: 'again' });
    expect(talk.all('turnStarted')).toHaveLength(1);
  });
});
