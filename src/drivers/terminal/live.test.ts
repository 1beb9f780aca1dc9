import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import type { DriverEvent } from '../port.ts';
import type { Hook } from './hooks.ts';
import { Live } from './live.ts';
import { newScreenState } from './state.ts';
import type { Signal } from './transcript.ts';

/** An adopted conversation: what its transcript says, each line ten bytes long, was processed up to `position`. */
function adopted(
  signals: readonly Signal[],
  position: number,
  sent: ReadonlyMap<string, string> = new Map(),
  unresolved: readonly string[] = [],
) {
  const events: DriverEvent[] = [];
  const live = new Live(
    {
      sessionId: 'ses_1' as SessionId,
      profile: { name: 'screen', driver: 'terminal', command: [] },
      cwd: '/',
      directory: '/',
      position,
      unresolved,
      emit: (event) => void events.push(event),
    },
    systemClock,
    newScreenState(new Map([...sent].map(([id, text]) => [id, { text, sentAt: 0 }]))),
  );
  signals.forEach((signal, index) => live.hear(signal, (index + 1) * 10));
  live.forgetEnded();
  return { live, events };
}

const prompt = (promptId: string, text = promptId): Signal => ({
  type: 'prompt',
  promptId,
  id: `uuid-${promptId}`,
  text,
});

describe('a turn that was taken back, after a restart', () => {
  it('is over, since the session was told so', () => {
    const { live, events } = adopted([prompt('a')], 10);
    expect([live.state.turn, events]).toEqual([undefined, []]);
    expect(live.state.ended).toEqual(['a']);
  });

  it('runs, where its end was not told', () => {
    const { live, events } = adopted([prompt('a')], 0);
    expect(live.state.turn?.id).toBe('a');
    expect(events.map(({ type }) => type)).toEqual(['turnStarted', 'item']);
  });

  it('runs, when only the end of the turn before it was told, with the line that began it', () => {
    const before = adopted([prompt('a'), { type: 'queued', text: 'b' }, prompt('b')], 0).events;
    const position = before.find(({ type }) => type === 'turnEnded')?.position ?? 0;
    const { live, events } = adopted([prompt('a'), { type: 'queued', text: 'b' }, prompt('b')], position);
    expect(live.state.turn?.id).toBe('b');
    expect(events).toMatchObject([{ type: 'turnStarted', nativeTurnId: 'b' }, { type: 'item' }]);
  });

  it('is kept for a text whose fate is open', () => {
    const { live } = adopted([prompt('a')], 10, new Map([['trn_1', 'a']]), ['trn_1']);
    expect(live.state.turn?.deliveryId).toBe('trn_1');
  });
});

describe('the questions that hooks told before an adoption', () => {
  const call = (id: string): Hook => ({
    hook_event_name: 'PreToolUse',
    tool_use_id: id,
    tool_name: 'Bash',
    prompt_id: 'a',
  });
  const asked: Hook = { hook_event_name: 'PermissionRequest', tool_name: 'Bash', prompt_id: 'a' };
  const called = (callId: string): Signal => ({ type: 'called', messageId: 'm', callId, text: '' });
  const returned = (callId: string): Signal => ({ type: 'returned', callId, text: '' });

  it('are told once: the last, while it is open', () => {
    const { live, events } = adopted([prompt('a'), called('1'), returned('1'), called('2')], 5);
    events.length = 0;
    for (const hook of [call('1'), asked, call('2'), asked]) live.hearOldHook(hook);
    expect(events).toEqual([]);
    live.askAgain(true);
    expect(events).toMatchObject([{ type: 'waiting', waitsFor: 'input' }]);
    live.hear(returned('2'), 100);
    expect(events.map(({ type }) => type)).toEqual(['waiting', 'item', 'resumed']);
    expect(live.turnOfCall('1')).toBe('a');
  });

  it.each([
    ['its call has an outcome', [prompt('a'), called('1'), returned('1')], true],
    ['another turn runs', [prompt('a'), { type: 'ended' } as const, prompt('b')], true],
    ['the screen shows no dialog', [prompt('a'), called('1')], false],
  ] as const)('are answered where %s', (_, signals, isShown) => {
    const { live, events } = adopted(signals, 5);
    events.length = 0;
    for (const hook of [call('1'), asked]) live.hearOldHook(hook);
    live.askAgain(isShown);
    expect(events.map(({ type }) => type)).toEqual(['resumed']);
  });
});
