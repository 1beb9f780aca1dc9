import type { Answer, Call, Principal, ScheduleCommands, ScheduleRef } from '../api/ports.ts';
import type { ScheduleId } from '../base/ids.ts';
import { FreshIds, idAs } from '../base/ids.ts';
import type * as wire from '../contract/schedule.ts';
import type { ScheduleInput } from '../contract/schedule-input.ts';
import { toInstant } from '../contract/text.ts';
import type { Rule } from '../ledger/decision.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule, ScheduleOrigin } from '../ledger/schedule.ts';
import { fullName } from '../ledger/schedule.ts';
import type { Decided } from '../ledger/store.ts';
import { backfill } from '../schedules/backfill.ts';
import type { Changed } from '../schedules/change.ts';
import { create, edit, pause, remove, resume } from '../schedules/change.ts';
import { trigger } from '../schedules/trigger.ts';
import { actorOf, nothing } from './caller.ts';
import { newId } from './commands.ts';
import { applySchedules } from './schedule-apply.ts';
import { refusalOfInput } from './schedule-sense.ts';
import { stopSchedule } from './schedule-stop.ts';
import { definitionOf } from './schedule-definition.ts';
import { toPreview, type WantedSchedule } from './schedule-preview.ts';
import type { SchedulingContext } from './scheduling-context.ts';

/** How long the answer to a trigger waits for its run to be there, in milliseconds. */
const beginMs = 5_000;
/** The project of a schedule that was made with a name alone. */
const defaultProject = 'default';
/** How many schedules agents may have made: as many as `list_schedules` shows. One that makes them in a loop is stopped. */
const mostOfAgents = 200;

/** What can be done with schedules. */
export function createScheduleCommands(context: SchedulingContext): ScheduleCommands {
  const { store, clock, ids } = context;
  const change = (id: ScheduleId, rule: (change: ChangeOf) => Rule<Changed>): Promise<Answer<void>> =>
    untilChanged(context, (fresh) => rule({ now: clock.now(), id, fresh })).then(nothing);
  return {
    put: (ref, said, call) => put(context, ref, said, call),
    async preview(ref, said, call) {
      const wanted = await wantedOf(context, ref, said, call);
      return wanted.ok ? { ok: true, value: toPreview(wanted.value, clock.now()) } : wanted;
    },
    remove: (id) => change(id, remove),
    pause: (id, reason) => change(id, (given) => pause({ ...given, reason: reason ?? null })),
    resume: (id) => change(id, resume),
    async trigger(id, call) {
      const occurrenceId = idAs('occurrence', await newId(context, call, 'run'));
      const fresh = new FreshIds(ids);
      const command = { scheduleId: id, id: occurrenceId, fresh };
      const made = await store.decide(() => trigger({ ...command, now: clock.now() }));
      if (!made.ok) return made;
      // Whoever asks for the run next shall find it.
      await context.commits.begun(occurrenceId, beginMs);
      const row = await store.read(() => ask('occurrence', occurrenceId));
      const { instant, state, reason } = row ?? made.value;
      const runId = idAs('run', occurrenceId);
      const told = { runId, instant: toInstant(instant), state };
      return { ok: true, value: { ...told, ...(reason === null ? {} : { reason }) } };
    },
    async backfill(id, { from, to, dryRun = false }) {
      const range = { from: Date.parse(from), to: Date.parse(to), isDry: dryRun };
      for (;;) {
        const fresh = new FreshIds(ids);
        const done = await store.decide(() => backfill({ ...range, now: clock.now(), id, fresh }));
        if (!done.ok) return done;
        if (done.value.as === 'done') return { ok: true, value: toBackfill(done.value, dryRun) };
      }
    },
    stop: (id, reason, { caller }) =>
      stopSchedule(context, id, { actor: actorOf(caller), ...(reason === undefined ? {} : { reason }) }),
    apply: (body) => applySchedules(context, body),
  };
}

interface ChangeOf {
  readonly now: number;
  readonly id: ScheduleId;
  readonly fresh: FreshIds;
}

/** A change comes behind the rows of all instants up to now; where some were missing, once more. */
async function untilChanged(
  { store, ids }: SchedulingContext,
  rule: (fresh: FreshIds) => Rule<Changed>,
): Promise<Decided<Changed>> {
  for (;;) {
    const fresh = new FreshIds(ids);
    const decided = await store.decide(() => rule(fresh));
    if (!decided.ok || decided.value !== 'behind') return decided;
  }
}

/** What a schedule shall be, and what it is now. Writes nothing; the answer says why it may not be. */
async function wantedOf(
  context: SchedulingContext,
  ref: ScheduleRef,
  said: ScheduleInput,
  call: Call,
): Promise<Answer<WantedSchedule>> {
  const { views } = context;
  const { items } = await views.schedules({ ...ref, limit: 10 });
  const [known] = items;
  if (items.length > 1) return ambiguous(ref, items);
  if (known?.origin === 'file') return heldByFile(known);
  const origin = originOf(call.caller);
  if (known && origin === 'agent' && known.origin !== 'agent') return heldByOthers(known);
  const project = known?.project ?? ref.project ?? defaultProject;
  const refused = await refusalOfInput(context, project, { [ref.name]: said }, '');
  if (refused) return refused;
  return { ok: true, value: { known, project, origin, definition: definitionOf(said) } };
}

async function put(
  context: SchedulingContext,
  ref: ScheduleRef,
  said: ScheduleInput,
  call: Call,
): Promise<Answer<ScheduleId>> {
  const { store, clock } = context;
  const wanted = await wantedOf(context, ref, said, call);
  if (!wanted.ok) return wanted;
  const { known, project, origin, definition } = wanted.value;
  if (known) {
    const { id } = known;
    const edited = await untilChanged(context, (fresh) => edit({ now: clock.now(), id, fresh, definition }));
    return edited.ok ? { ok: true, value: id } : edited;
  }
  if (origin === 'agent' && (await areTooMany(context))) return tooMany();
  const id = idAs('schedule', await newId(context, call, 'run'));
  const row = { id, project, name: ref.name, origin, definition };
  return store.decide(() => create({ ...row, now: clock.now() }));
}

function originOf(caller: Principal): ScheduleOrigin {
  return caller.kind === 'api' ? 'api' : 'agent';
}

function ambiguous(ref: ScheduleRef, found: readonly Schedule[]): Answer<never> {
  const matches = found.map(fullName);
  const message = `Several schedules have the name ${ref.name}: ${matches.join(', ')}. Give the project too.`;
  return { ok: false, code: 'AMBIGUOUS_ID', message, data: { matches } };
}

async function areTooMany({ views }: SchedulingContext): Promise<boolean> {
  const { items } = await views.schedules({ origin: 'agent', limit: mostOfAgents });
  return items.length >= mostOfAgents;
}

function tooMany(): Answer<never> {
  const message = `Agents have made ${mostOfAgents} schedules, and more are not taken; replace one of them, or ask a person to remove some.`;
  return { ok: false, code: 'ILLEGAL_STATE', message, data: { most: mostOfAgents } };
}

function heldByFile(known: Schedule): Answer<never> {
  const message = `${fullName(known)} comes from a file; change it there and apply the file.`;
  return { ok: false, code: 'ILLEGAL_STATE', message, data: { origin: known.origin } };
}

function heldByOthers(known: Schedule): Answer<never> {
  const message = `${fullName(known)} was made by a person; give yours another name.`;
  return { ok: false, code: 'ILLEGAL_STATE', message, data: { origin: known.origin } };
}

function toBackfill(
  {
    due,
    left,
  }: {
    readonly due: readonly { instant: number; was: wire.Occurrence['state'] | null }[];
    readonly left: number;
  },
  dryRun: boolean,
): wire.BackfillAnswer {
  const shown = due.map(({ instant, was }) => ({
    instant: toInstant(instant),
    ...(was === null ? {} : { was }),
  }));
  return { dryRun, due: shown, left };
}
