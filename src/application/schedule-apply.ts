import type { Answer } from '../api/ports.ts';
import { FreshIds } from '../base/ids.ts';
import type { ApplyAnswer, ApplyBody } from '../contract/schedule.ts';
import { apply } from '../schedules/apply.ts';
import { changedKeys, definitionOf } from './schedule-definition.ts';
import { refusalOfInput } from './schedule-sense.ts';
import type { SchedulingContext } from './scheduling-context.ts';

/** Makes the schedules of a project that come from a file be those of this one: all of it, or nothing and the mistakes. */
export async function applySchedules(
  context: SchedulingContext,
  { project, schedules, dryRun = false }: ApplyBody,
): Promise<Answer<ApplyAnswer>> {
  const { store, clock, ids } = context;
  const refused = await refusalOfInput(context, project, schedules, 'schedules', {
    others: 'not from files',
  });
  if (refused) return refused;
  const wanted = new Map(Object.entries(schedules).map(([name, said]) => [name, definitionOf(said)]));
  for (;;) {
    const fresh = new FreshIds(ids);
    const command = { project, wanted, isDry: dryRun, fresh };
    const applied = await store.decide(() => apply({ ...command, now: clock.now() }));
    if (!applied.ok) return applied;
    if (applied.value.as === 'behind') continue;
    const { created, changed, unchanged, removed } = applied.value;
    const edits = changed.map(({ name, before }) => {
      const definition = wanted.get(name);
      return { name, keys: definition ? changedKeys(before, definition) : [] };
    });
    const lists = { created: [...created], unchanged: [...unchanged], removed: [...removed] };
    return { ok: true, value: { project, dryRun, changed: edits, ...lists } };
  }
}
