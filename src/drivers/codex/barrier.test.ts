import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Barrier } from './barrier.ts';
import type { Call } from './history.ts';

/** A thread that takes changes of its settings; `onChange` is told of each. */
function threadWith(onChange: (plugins: readonly string[], barrier: Barrier) => 'ok' | 'refused') {
  const clock = new VirtualClock();
  const changes: (readonly string[])[] = [];
  const call: Call = async (_, params) => {
    const { disabledPluginIds } = params as { disabledPluginIds: readonly string[] };
    changes.push(disabledPluginIds);
    const outcome = onChange(disabledPluginIds, barrier);
    return outcome === 'ok' ? { outcome, result: {} } : { outcome, message: 'no' };
  };
  const barrier = new Barrier('thread', clock, call);
  barrier.disabledPlugins = ['theirs'];
  return { barrier, clock, changes };
}

describe('the barrier', () => {
  it('is passed when its own change is announced, and puts the settings back', async () => {
    const { barrier, clock, changes } = threadWith((plugins, own) => {
      own.heard('another', plugins);
      own.heard('thread', plugins);
      return 'ok';
    });
    expect(await barrier.pass()).toBe(true);
    expect(changes).toHaveLength(2);
    expect(changes[0]?.[0]).toBe('theirs');
    expect(changes[1]).toEqual(['theirs']);
    expect(clock.nextAt()).toBeUndefined();
  });

  it('is not passed by an announcement that does not come, or is of another thread', async () => {
    const { barrier, clock } = threadWith((plugins, own) => {
      own.heard('another', plugins);
      return 'ok';
    });
    const passing = barrier.pass();
    for (let i = 0; i < 10; i++) await Promise.resolve();
    clock.advance(5_000);
    expect(await passing).toBe(false);
  });

  it('is not passed when the change is refused, and leaves no timer', async () => {
    const { barrier, clock } = threadWith(() => 'refused');
    expect(await barrier.pass()).toBe(false);
    expect(clock.nextAt()).toBeUndefined();
  });
});
