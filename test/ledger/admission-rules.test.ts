import { afterEach, describe, expect, it } from 'vitest';
import type { RuleName } from '../../src/ledger/rules.ts';
import { rules } from '../../src/ledger/rules.ts';
import { planOf, Scene } from './scene.ts';

/** The rules of who may begin, as in `rules.test.ts`: each trace ends right, and breaks without its rule. */
afterEach(() => {
  for (const name of Object.keys(rules) as RuleName[]) rules[name] = true;
});

/** A ledger without a rule. Its invariants are broken on purpose, so they are not checked. */
function without(name: RuleName): Scene {
  rules[name] = false;
  return new Scene({ checks: false });
}

/** With one slot, a turn ends while two sessions wait; one that never asked looks for its lane first. */
async function oneSlotForThree(scene: Scene) {
  await scene.limit({ turns: 1 });
  const sessions = [await scene.session(), await scene.session(), await scene.session()] as const;
  const [busy, waits, late] = sessions;
  const { native } = await scene.running(busy);
  await scene.message(waits);
  await scene.lane(waits);
  await scene.message(late);
  return { busy, waits, late, native };
}

describe('R17: no turn begins by us beyond the limits, and whoever asked first is let in first', () => {
  it('a session waits for a slot, and is not overtaken', async () => {
    const scene = new Scene();
    const { busy, late, native } = await oneSlotForThree(scene);
    expect(await scene.lane(late)).toBeUndefined();
    await scene.ends(busy, native);
    expect(await scene.lane(late)).toBeUndefined();
  });

  it('without it more turns run than were allowed', async () => {
    const scene = without('turnLimits');
    const { late } = await oneSlotForThree(scene);
    expect(await scene.lane(late)).toBeDefined();
  });

  it('without the line somebody who asked later goes first', async () => {
    const scene = without('slotLine');
    const { busy, late, native } = await oneSlotForThree(scene);
    await scene.ends(busy, native);
    expect(await scene.lane(late)).toBeDefined();
  });
});

describe('R18: whatever ends a turn calls the next in line', () => {
  it('the line is looked at when a turn has ended', async () => {
    const scene = new Scene();
    const { busy, native } = await oneSlotForThree(scene);
    await scene.ends(busy, native);
    expect(scene.model.state.wakes.has('slot:line')).toBe(true);
  });

  it('without it nobody ever looks', async () => {
    const scene = without('slotCall');
    const { busy, native } = await oneSlotForThree(scene);
    await scene.ends(busy, native);
    expect(scene.model.state.wakes.has('slot:line')).toBe(false);
  });
});

/** Two runs want one directory; the first one has it, and ends. Every wake-up before that was handled. */
async function twoInOneDirectory(scene: Scene) {
  const [one, other] = [await scene.session(), await scene.session()];
  const first = await scene.run(one, planOf(['one']), {}, '/repository');
  const second = await scene.run(other, planOf(['two']), {}, '/repository');
  await scene.advance(first);
  await scene.advance(second);
  const native = await scene.runs(one);
  const early = await scene.lane(other);
  await scene.ends(one, native);
  for (const wake of scene.model.state.wakes.values()) await scene.model.store.finishWake(wake, null);
  await scene.advance(first);
  return { early, wakes: scene.model.state.wakes, other };
}

describe('R19: of the runs that want one directory alone, one works, and its end wakes the next', () => {
  it('the second waits until the first has ended, and is woken', async () => {
    const { early, wakes, other } = await twoInOneDirectory(new Scene());
    expect(early).toBeUndefined();
    expect(wakes.has(`session:${other}`)).toBe(true);
  });

  it('without the lock both work at once', async () => {
    expect((await twoInOneDirectory(without('workspaceLock'))).early).toBeDefined();
  });

  it('without the call nobody wakes the second', async () => {
    const { wakes, other } = await twoInOneDirectory(without('workspaceCall'));
    expect(wakes.has(`session:${other}`)).toBe(false);
  });
});
