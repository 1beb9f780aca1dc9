import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Leftover } from './leftover.ts';

function leave(): { clock: VirtualClock; done: string[]; leftover: Leftover } {
  const clock = new VirtualClock();
  const done: string[] = [];
  const drops = new Set<number>();
  const leftover = new Leftover(clock, {
    wasAsked: (at) => drops.has(at),
    ask: (at) => {
      drops.add(at);
      done.push(`drop ${at}`);
    },
    look: (at) => void done.push(`look ${at}`),
    end: (why) => void done.push(`end: ${why}`),
  });
  return { clock, done, leftover };
}

describe('texts that stay in the queue of pi', () => {
  it('are looked at again after a moment, unless something else became of them', () => {
    const { clock, done, leftover } = leave();
    leftover.lookAgain(7);
    clock.advance(999);
    expect(done).toEqual([]);
    clock.advance(1);
    expect(done).toEqual(['look 7']);
    leftover.lookAgain(7);
    leftover.stop();
    expect(clock.nextAt()).toBeUndefined();
  });

  it('are dropped once, and pi is ended when it does not answer, also if it is looked at again', () => {
    const { clock, done, leftover } = leave();
    leftover.drop(7);
    leftover.drop(7);
    leftover.lookAgain(7);
    clock.advance(60_000);
    expect(done).toEqual(['drop 7', 'end: it does not load the conversation']);
  });
});
