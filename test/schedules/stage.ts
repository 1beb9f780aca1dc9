import type { ScheduleId } from '../../src/base/ids.ts';
import { FreshIds } from '../../src/base/ids.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import type { Notification } from '../../src/ledger/notification.ts';
import type { Occurrence } from '../../src/ledger/occurrence.ts';
import type { AfterRule, ScheduleDefinition } from '../../src/ledger/schedule-definition.ts';
import type { Run } from '../../src/ledger/session.ts';
import type { Decided } from '../../src/ledger/store.ts';
import type { Backfilled } from '../../src/schedules/backfill.ts';
import { backfill } from '../../src/schedules/backfill.ts';
import type { Changed } from '../../src/schedules/change.ts';
import { create, edit, pause, remove, resume } from '../../src/schedules/change.ts';
import { trigger } from '../../src/schedules/trigger.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import type { Fate, WorldParts } from './world.ts';
import { World, says } from './world.ts';

/** When a stage begins: 2026-01-01, half past midnight, UTC. */
export const start = Date.UTC(2026, 0, 1, 0, 30);

/** One world for each test, and what people do in it. */
export class Stage {
  clock = new VirtualClock(start);
  store = new MemoryStore({ clock: this.clock });
  world = this.#made({});

  /** A new world, with whatever is different. */
  begin(parts: Partial<WorldParts> = {}): void {
    this.clock = new VirtualClock(start);
    this.store = new MemoryStore({ clock: this.clock });
    this.world = this.#made(parts);
  }

  #made(parts: Partial<WorldParts>): World {
    let seed = 1;
    const random = (): number => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    return new World({ store: this.store, clock: this.clock, random, ...parts });
  }

  create(name: string, set: Partial<ScheduleDefinition> = {}): Promise<Decided<ScheduleId>> {
    const id = this.world.ids.make('schedule');
    const command = { id, project: 'shop', name, origin: 'api', definition: says(set) } as const;
    return this.store.decide(() => create({ ...command, now: this.clock.now() }));
  }

  async add(name: string, set: Partial<ScheduleDefinition> = {}): Promise<ScheduleId> {
    const made = await this.create(name, set);
    if (!made.ok) throw new Error(made.message);
    return made.value;
  }

  /** A server that starts again on what the last one left. */
  async restart(): Promise<void> {
    const { parts } = this.world;
    await this.world.end();
    this.world = new World(parts);
    await this.world.start();
  }

  /** The server is away for so long, and starts again. */
  async away(ms: number): Promise<void> {
    await this.world.end();
    this.clock.advance(ms);
    await this.restart();
  }

  /** Time passes and no handler looks. */
  async pass(ms: number): Promise<void> {
    await this.world.end();
    this.clock.advance(ms);
    this.world = new World(this.world.parts);
  }

  pause(id: ScheduleId, reason: string | null = null): Promise<Decided<Changed>> {
    return this.world.change((fresh) => pause({ now: this.clock.now(), id, fresh, reason }));
  }

  resume(id: ScheduleId): Promise<Decided<Changed>> {
    return this.world.change((fresh) => resume({ now: this.clock.now(), id, fresh }));
  }

  remove(id: ScheduleId): Promise<Decided<Changed>> {
    return this.world.change((fresh) => remove({ now: this.clock.now(), id, fresh }));
  }

  edit(id: ScheduleId, set: Partial<ScheduleDefinition>): Promise<Decided<Changed>> {
    const definition = says(set);
    return this.world.change((fresh) => edit({ now: this.clock.now(), id, fresh, definition }));
  }

  trigger(id: ScheduleId): Promise<Decided<Occurrence>> {
    const fresh = new FreshIds(this.world.ids);
    const command = { scheduleId: id, id: this.world.ids.make('occurrence'), fresh };
    return this.store.decide(() => trigger({ ...command, now: this.clock.now() }));
  }

  backfill(id: ScheduleId, from: number, to: number, isDry = false): Promise<Decided<Backfilled>> {
    const fresh = new FreshIds(this.world.ids);
    return this.store.decide(() => backfill({ now: this.clock.now(), id, from, to, isDry, fresh }));
  }

  async runsOf(id: ScheduleId): Promise<Run[]> {
    return (await this.store.views.runs({ scheduleId: id, limit: 1_000 })).items.reverse();
  }

  /** The notifications of a transition. */
  told(transition: string): Notification[] {
    return this.store.snapshot().notifications.filter((row) => row.transition === transition);
  }
}

/** Every run takes so long and succeeds. */
export function slow(tookMs: number): () => Fate {
  return () => ({ tookMs, outcome: 'succeeded' });
}

/** It runs after another one. */
export function after(schedule: string, set: Partial<AfterRule> = {}): Pick<ScheduleDefinition, 'when'> {
  return { when: { after: { schedule, status: 'succeeded', ...set } } };
}
