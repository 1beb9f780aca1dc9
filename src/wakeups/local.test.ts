import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Wake, WakeKind } from '../ledger/effects.ts';
import type { Wakeups } from '../ledger/wakeups.ts';
import type { Opened } from '../store/conformance/adapters.ts';
import { adapters } from '../store/conformance/adapters.ts';
import { deciding, start } from '../store/conformance/rows.ts';
import { localWakeups } from './local.ts';
import { lookAgain } from './look-again.ts';

const second = 1_000;

describe.each(adapters)('wake-ups over $name', ({ open }) => {
  let opened: Opened;
  let clock: VirtualClock;
  let wakeups: Wakeups;
  let calls: string[];
  let reports: Readonly<Record<string, unknown>>[];
  /** What a handler does, by target. */
  let handlers: Map<string, () => Promise<void>>;

  const owe = async (target: string, at = 0, kind: WakeKind = 'session'): Promise<void> => {
    await opened.store.decide(deciding([{ do: 'wake', wake: { kind, target, at } }]));
  };
  const handle = async ({ kind, target }: Wake): Promise<void> => {
    calls.push(`${kind} ${target}`);
    await handlers.get(target)?.();
  };
  /** Makes the handler of a target wait; the function that is returned lets the newest call go on. */
  const holdBack = (target: string): (() => void) => {
    let release = (): void => {};
    handlers.set(
      target,
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    return () => release();
  };
  const make = (concurrency?: number): Wakeups =>
    localWakeups({
      store: opened.store,
      clock,
      report: (_, data) => reports.push(data),
      ...(concurrency === undefined ? {} : { concurrency }),
    });
  const rows = async (): Promise<unknown[]> => [...(await opened.dump()).wakeups];
  /** Waits for a condition, with a deadline of real time. */
  const until = async (what: () => boolean | Promise<boolean>): Promise<void> => {
    const deadline = performance.now() + 5_000;
    while (!(await what())) {
      if (performance.now() > deadline)
        throw new Error(`waited in vain for ${String(what)}; ${calls.join(', ')}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const isDone = async (): Promise<boolean> => (await rows()).length === 0;
  /** Moves time on when what is under way has come to rest: timers are set after commits. */
  const pass = async (ms: number): Promise<void> => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(ms);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  beforeEach(async () => {
    clock = new VirtualClock(start);
    opened = await open(clock);
    calls = [];
    reports = [];
    handlers = new Map();
    wakeups = make();
  });
  afterEach(async () => {
    await wakeups.stop();
    await opened.end();
  });

  it('calls at once what a commit owes, and forgets it when it was handled', async () => {
    await wakeups.start(handle);
    await owe('a');
    await until(isDone);
    expect(calls).toEqual(['session a']);
  });

  it('calls what was owed before it started, each once, earliest first', async () => {
    await owe('b', 2);
    await owe('a', 1);
    await owe('later', start + second);
    await wakeups.start(handle);
    await until(async () => (await rows()).length === 1);
    expect(calls).toEqual(['session a', 'session b']);
    await pass(second);
    await until(isDone);
    expect(calls).toEqual(['session a', 'session b', 'session later']);
  });

  it('keeps a row while its handler runs: at least once, whatever happens', async () => {
    const release = holdBack('a');
    await wakeups.start(handle);
    await owe('a');
    await until(() => calls.length === 1);
    expect(await rows()).toHaveLength(1);
    release();
    await until(isDone);
  });

  it('runs once more, not twice more, for what arrives while its handler runs', async () => {
    const release = holdBack('a');
    await wakeups.start(handle);
    await owe('a');
    await until(() => calls.length === 1);
    await owe('a');
    await owe('a');
    expect(calls).toHaveLength(1);
    release();
    await until(() => calls.length === 2);
    release();
    await until(isDone);
    expect(calls).toEqual(['session a', 'session a']);
  });

  it('does not call again at once for what its handler owed for later', async () => {
    let left = 2;
    handlers.set('a', async () => {
      if (left-- > 0) await owe('a', clock.now() + 10 * second);
    });
    await wakeups.start(handle);
    await owe('a');
    await until(async () => JSON.stringify(await rows()).includes(String(start + 10 * second)));
    expect(calls).toHaveLength(1);
    await pass(10 * second);
    await until(async () => JSON.stringify(await rows()).includes(String(start + 20 * second)));
    expect(calls).toHaveLength(2);
    await pass(10 * second);
    await until(isDone);
    expect(calls).toHaveLength(3);
  });

  it('calls delayed ones in time by one timer, and an earlier instant replaces a later one', async () => {
    await wakeups.start(handle);
    await owe('slow', start + 100 * second);
    await owe('fast', start + 10 * second);
    await owe('slow', start + 50 * second);
    await pass(10 * second - 1);
    expect(calls).toEqual([]);
    await pass(1);
    await until(() => calls.length === 1);
    await pass(40 * second - 1);
    expect(calls).toEqual(['session fast']);
    await pass(1);
    await until(isDone);
    expect(calls).toEqual(['session fast', 'session slow']);
    expect(clock.nextAt()).toBeUndefined();
  });

  it('an immediate one takes a delayed one of the same target with it', async () => {
    await wakeups.start(handle);
    await owe('a', start + 100 * second);
    await owe('a');
    await until(isDone);
    await pass(200 * second);
    expect(calls).toEqual(['session a']);
  });

  it('backs off from a handler that fails, reports each failure, and comes back', async () => {
    let failures = 3;
    handlers.set('a', async () => {
      if (failures-- > 0) throw new Error('not yet');
    });
    await wakeups.start(handle);
    await owe('a');
    await until(() => reports.length === 1);
    expect(reports[0]).toMatchObject({ kind: 'session', target: 'a', failures: 1, backOffMs: second });
    for (const [i, backOff] of [1, 2, 4].entries()) {
      await pass(backOff * second - 1);
      expect(calls).toHaveLength(i + 1);
      await pass(1);
      await until(() => calls.length === i + 2);
    }
    await until(isDone);
    expect(reports.map((each) => each['backOffMs'])).toEqual([second, 2 * second, 4 * second]);
    // A success wipes the slate.
    failures = 1;
    await owe('a');
    await until(() => reports.length === 4);
    expect(reports[3]).toMatchObject({ failures: 1 });
  });

  it('never waits longer than a minute after a failure, and a handler that throws at once is no other case', async () => {
    await wakeups.start(() => {
      throw new Error('bug');
    });
    await owe('a');
    for (let n = 1; n <= 8; n++) {
      await until(() => reports.length === n);
      await pass(Number(reports[n - 1]?.['backOffMs']));
    }
    expect(reports.slice(0, 8).map((each) => each['backOffMs'])).toEqual(
      [1, 2, 4, 8, 16, 32, 60, 60].map((n) => n * second),
    );
  });

  it('rests no longer than a minute or two when the clock is set back by a day meanwhile', async () => {
    let fails = true;
    handlers.set('a', async () => {
      if (fails) throw new Error('no');
    });
    await wakeups.start(handle);
    await owe('a');
    await until(() => reports.length === 1);
    fails = false;
    clock.jump(-86_400 * second);
    await pass(120 * second);
    await until(() => calls.length === 2);
    await until(isDone);
  });

  it('what backs off is looked at when the clock is set back, and nothing else is', async () => {
    await wakeups.start(handle);
    const kinds = ['run', 'session', 'slot', 'dispatch', 'step', 'deadline', 'idle'] as const;
    for (const kind of kinds) await owe('a', clock.now() + 60 * second, kind);
    clock.jump(-86_400 * second);
    await lookAgain(opened.store, clock);
    await until(() => calls.length === 5);
    expect(calls.sort()).toEqual(['dispatch a', 'run a', 'session a', 'slot a', 'step a']);
  });

  it('what arrives while it rests after a failure is called at once', async () => {
    let fails = true;
    handlers.set('a', async () => {
      if (fails) throw new Error('no');
    });
    await wakeups.start(handle);
    await owe('a');
    await until(() => reports.length === 1);
    fails = false;
    await owe('a');
    await until(isDone);
    expect(calls).toHaveLength(2);
  });

  it('runs so many handlers at once and no more, the others first in first out', async () => {
    await wakeups.stop();
    wakeups = make(2);
    const targets = ['a', 'b', 'c', 'd'];
    const releases = new Map(targets.map((target) => [target, holdBack(target)]));
    await wakeups.start(handle);
    for (const target of targets) await owe(target);
    await until(() => calls.length === 2);
    expect(calls).toEqual(['session a', 'session b']);
    releases.get('b')?.();
    await until(() => calls.length === 3);
    releases.get('a')?.();
    await until(() => calls.length === 4);
    expect(calls).toEqual(['session a', 'session b', 'session c', 'session d']);
    for (const target of ['c', 'd']) releases.get(target)?.();
    await until(isDone);
  });

  it('kinds of one target are called side by side', async () => {
    const release = holdBack('a');
    await wakeups.start(handle);
    await owe('a', 0, 'session');
    await until(() => calls.length === 1);
    handlers.delete('a');
    await owe('a', 0, 'run');
    await until(() => calls.length === 2);
    release();
    await until(isDone);
  });

  it('stops when what runs has ended, begins nothing more, and keeps what is due', async () => {
    const release = holdBack('a');
    await wakeups.start(handle);
    await owe('a');
    await until(() => calls.length === 1);
    let isStopped = false;
    const stopped = wakeups.stop().then(() => {
      isStopped = true;
    });
    await owe('b');
    await pass(0);
    expect([isStopped, calls]).toEqual([false, ['session a']]);
    release();
    await stopped;
    expect(await rows()).toMatchObject([{ target: 'b' }]);
    wakeups = make();
    await wakeups.start(handle);
    await until(isDone);
    expect(calls).toEqual(['session a', 'session b']);
  });

  it('nothing waits behind what lasts, which stays owed until it is over', async () => {
    wakeups = make(1);
    let end = (): void => {};
    await wakeups.start(async (wake) => {
      await handle(wake);
      return wake.target === 'long' ? { lasts: new Promise((resolve) => (end = resolve)) } : undefined;
    });
    await owe('long');
    await owe('short');
    await until(async () => (await rows()).length === 1);
    expect(calls).toEqual(['session long', 'session short']);
    expect(await rows()).toMatchObject([{ target: 'long' }]);
    await owe('long');
    await pass(0);
    expect(calls).toHaveLength(2);
    end();
    await until(() => calls.length === 3);
    end();
    await until(isDone);
  });

  it('a stop lets go of what lasts, without an alarm, and calls it when it is started again', async () => {
    await wakeups.start(async (wake, signal) => {
      await handle(wake);
      const lasts = new Promise<void>((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stopping')), { once: true }),
      );
      return { lasts };
    });
    await owe('long');
    await until(() => calls.length === 1);
    await wakeups.stop();
    expect(reports).toEqual([]);
    expect(await rows()).toMatchObject([{ target: 'long' }]);
    await wakeups.start(handle);
    await until(isDone);
    expect(calls).toEqual(['session long', 'session long']);
  });

  it('calls what it left undone when it is started again', async () => {
    handlers.set('a', () => Promise.reject(new Error('not now')));
    await wakeups.start(handle);
    await owe('a');
    await until(() => reports.length === 1);
    await wakeups.stop();
    handlers.delete('a');
    await wakeups.start(handle);
    await until(isDone);
    expect(calls).toEqual(['session a', 'session a']);
  });

  it('hears of what is owed while it still reads what was due', async () => {
    await owe('old');
    const started = wakeups.start(handle);
    const owed = owe('new');
    await Promise.all([started, owed]);
    await until(isDone);
    expect([...calls].sort()).toEqual(['session new', 'session old']);
  });

  it('is not late when the clock was set back in between', async () => {
    await wakeups.start(handle);
    await owe('first', start + 10 * second);
    await pass(10 * second);
    await until(isDone);
    clock.jump(-8 * second);
    await owe('near', clock.now() + second);
    await pass(second);
    await until(isDone);
    expect(calls).toEqual(['session first', 'session near']);
  });

  it.each([
    ['the machine slept', (ms: number) => clock.sleep(ms)],
    ['the clock was set', (ms: number) => clock.jump(ms)],
    ['nothing ran for a while', (ms: number) => clock.stall(ms)],
  ])('calls within a minute what fell due while %s', async (_what, happen) => {
    await wakeups.start(handle);
    await owe('night', start + 3_600 * second);
    happen(8 * 3_600 * second);
    await pass(60 * second);
    await until(isDone);
    expect(calls).toEqual(['session night']);
  });

  it('calls what was owed by a clock that was set back when its instant has come, and not before', async () => {
    await wakeups.start(handle);
    await owe('soon', start + 90 * second);
    await pass(60 * second);
    clock.jump(-3_600 * second);
    await pass(60 * second);
    expect(calls).toEqual([]);
    for (let minute = 0; minute < 60; minute++) await pass(60 * second);
    await until(isDone);
    expect(calls).toEqual(['session soon']);
  });
});
