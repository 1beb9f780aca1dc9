import type { RunId, ScheduleId } from '../../src/base/ids.ts';
import { Ids } from '../../src/base/ids.ts';
import { inZone } from '../../src/base/zoned-time.ts';
import type { Answer, Call, ScheduleCommands, ScheduleQueries, ScheduleRef } from '../../src/api/ports.ts';
import { changedKeys, definitionOf, toDefinition } from '../../src/application/schedule-definition.ts';
import type { Occurrence, PreviewAnswer, Schedule } from '../../src/contract/schedule.ts';
import type { ScheduleInput } from '../../src/contract/schedule-input.ts';
import { toInstant } from '../../src/contract/text.ts';
import type { ScheduleDefinition } from '../../src/ledger/schedule-definition.ts';
import { instantsBetween } from '../../src/schedules/rule/instants.ts';
import { parseRule } from '../../src/schedules/rule/rule.ts';

interface Row {
  readonly id: ScheduleId;
  readonly project: string;
  readonly name: string;
  readonly origin: Schedule['origin'];
  definition: ScheduleDefinition;
  revision: number;
  paused?: { since: string; reason?: string };
  isRemoved: boolean;
  readonly occurrences: Occurrence[];
}

/** Enough of schedules, in memory, to run real requests against. Nothing is ever due. */
export class MemorySchedules implements ScheduleCommands, ScheduleQueries {
  readonly rows: Row[] = [];
  readonly calls: { readonly what: string; readonly call: Call }[] = [];
  /** The instant at which everything happens. */
  now = Date.UTC(2027, 0, 1);
  /** What every command refuses with. */
  refusal: Extract<Answer<never>, { ok: false }> | undefined;
  /** What becomes of what is triggered. */
  triggered: { state: Occurrence['state']; reason?: string } = { state: 'ran' };
  /** Called with the id of the run of each trigger. */
  onTrigger: (id: RunId) => void = () => undefined;
  readonly #ids = new Ids(() => this.now, Math.random);

  /** As if it were new. */
  forget(): void {
    this.rows.length = 0;
    this.calls.length = 0;
    this.refusal = undefined;
    this.triggered = { state: 'ran' };
    this.onTrigger = () => undefined;
    this.now = Date.UTC(2027, 0, 1);
  }

  async find(ref: ScheduleRef): ReturnType<ScheduleQueries['find']> {
    const fitting = this.#live().filter(
      ({ project, name }) => name === ref.name && (ref.project ?? project) === project,
    );
    const [first, second] = fitting;
    if (first === undefined) return { found: 'none' };
    if (second === undefined) return { found: 'one', id: first.id };
    return { found: 'several', matches: fitting.map(({ project, name }) => `${project}/${name}`) };
  }

  async list({ project, label, state }: Parameters<ScheduleQueries['list']>[0]) {
    const items = this.rows
      .map((row) => this.#shown(row))
      .filter((each) => (state === undefined ? each.state !== 'removed' : each.state === state))
      .filter((each) => project === undefined || each.project === project)
      .filter((each) => label === undefined || each.definition.labels.includes(label));
    return { items };
  }

  async get(id: ScheduleId): Promise<Schedule> {
    return this.#shown(this.#row(id));
  }

  async next(id: ScheduleId, count: number) {
    const { definition } = this.#row(id);
    const { when, timezone } = definition;
    if ('after' in when) return { timezone, items: [], note: `It runs after ${when.after.schedule}.` };
    const read = parseRule(when);
    const instants = 'rule' in read ? instantsBetween(read.rule, this.now, Date.UTC(2100, 0), count) : [];
    return {
      timezone,
      items: instants.map((ms) => ({ instant: toInstant(ms), local: inZone(ms, timezone) })),
    };
  }

  async occurrences(id: ScheduleId, { state }: Parameters<ScheduleQueries['occurrences']>[1]) {
    return { items: this.#row(id).occurrences.filter((each) => state === undefined || each.state === state) };
  }

  async runs() {
    return { items: [] };
  }

  async put(ref: ScheduleRef, said: ScheduleInput, call: Call): Promise<Answer<ScheduleId>> {
    return this.#do('put', call, () =>
      this.#put({ project: ref.project ?? 'default', name: ref.name }, said, 'api'),
    );
  }

  preview(ref: ScheduleRef, said: ScheduleInput, call: Call): Promise<Answer<PreviewAnswer>> {
    return this.#do('preview', call, () => {
      const definition = definitionOf(said);
      const known = this.#live().find(({ name }) => name === ref.name);
      const changed = known ? changedKeys(known.definition, definition) : [];
      return { definition: toDefinition(definition), changed, next: [] };
    });
  }

  remove(id: ScheduleId, call: Call): Promise<Answer<void>> {
    return this.#do('remove', call, () => {
      this.#row(id).isRemoved = true;
    });
  }

  trigger(id: ScheduleId, call: Call) {
    return this.#do('trigger', call, () => {
      const runId = this.#ids.make('run');
      const instant = toInstant(this.now);
      const { state, reason } = this.triggered;
      const more = { ...(state === 'ran' ? { runId } : {}), ...(reason === undefined ? {} : { reason }) };
      this.#addOccurrence(id, { instant, trigger: 'manual', state, ...more });
      if (state === 'ran') this.onTrigger(runId);
      return { runId, instant, state: 'due' as const };
    });
  }

  pause(id: ScheduleId, reason: string | undefined, call: Call): Promise<Answer<void>> {
    return this.#do('pause', call, () => {
      this.#row(id).paused = { since: toInstant(this.now), ...(reason === undefined ? {} : { reason }) };
    });
  }

  resume(id: ScheduleId, call: Call): Promise<Answer<void>> {
    return this.#do('resume', call, () => {
      delete this.#row(id).paused;
    });
  }

  backfill(id: ScheduleId, body: Parameters<ScheduleCommands['backfill']>[1], call: Call) {
    return this.#do('backfill', call, () => {
      const { when } = this.#row(id).definition;
      const read = 'after' in when ? undefined : parseRule(when);
      const [from, to] = [Date.parse(body.from), Date.parse(body.to)];
      const instants = read && 'rule' in read ? instantsBetween(read.rule, from - 1, to - 1, 1_000) : [];
      return {
        dryRun: body.dryRun === true,
        due: instants.map((ms) => ({ instant: toInstant(ms) })),
        left: 0,
      };
    });
  }

  stop(id: ScheduleId, _reason: string | undefined, call: Call) {
    return this.#do('stop', call, () => ({
      runs: this.#row(id).occurrences.flatMap(({ runId }) => runId ?? []),
      skipped: [],
    }));
  }

  apply({ project, schedules, dryRun = false }: Parameters<ScheduleCommands['apply']>[0], call: Call) {
    return this.#do('apply', call, () => {
      const answer = { project, dryRun, created: [] as string[], unchanged: [] as string[] };
      const changed: { name: string; keys: string[] }[] = [];
      const ofFile = this.#live().filter((row) => row.project === project && row.origin === 'file');
      for (const [name, said] of Object.entries(schedules)) {
        const before = ofFile.find((row) => row.name === name);
        const keys = before ? changedKeys(before.definition, definitionOf(said)) : [];
        if (!before) answer.created.push(name);
        else if (keys.length > 0) changed.push({ name, keys });
        else answer.unchanged.push(name);
        if (!dryRun) this.#put({ project, name }, said, 'file');
      }
      const gone = ofFile.filter(({ name }) => schedules[name] === undefined);
      if (!dryRun) for (const row of gone) row.isRemoved = true;
      return { ...answer, changed, removed: gone.map(({ name }) => name) };
    });
  }

  #put(named: Required<ScheduleRef>, said: ScheduleInput, origin: Schedule['origin']): ScheduleId {
    const definition = definitionOf(said);
    const before = this.#live().find(({ project, name }) => project === named.project && name === named.name);
    if (before) {
      if (changedKeys(before.definition, definition).length > 0) before.revision += 1;
      before.definition = definition;
      return before.id;
    }
    const id = this.#ids.make('schedule');
    this.rows.push({ id, ...named, origin, definition, revision: 1, isRemoved: false, occurrences: [] });
    return id;
  }

  #addOccurrence(
    id: ScheduleId,
    given: Pick<Occurrence, 'instant' | 'trigger' | 'state'> & { runId?: RunId; reason?: string },
  ): void {
    const { project, name, revision, occurrences } = this.#row(id);
    const createdAt = toInstant(this.now);
    const occurrence = {
      id: this.#ids.make('occurrence'),
      project,
      schedule: name,
      revision,
      createdAt,
      ...given,
    };
    occurrences.unshift(occurrence);
  }

  async #do<T>(what: string, call: Call, work: () => T): Promise<Answer<T>> {
    this.calls.push({ what, call });
    return this.refusal ?? { ok: true, value: work() };
  }

  #live(): Row[] {
    return this.rows.filter(({ isRemoved }) => !isRemoved);
  }

  #row(id: ScheduleId): Row {
    const row = this.rows.find((each) => each.id === id);
    if (!row) throw new Error(`no schedule ${id}`);
    return row;
  }

  #shown(row: Row): Schedule {
    const { id, project, name, origin, definition, revision, paused, isRemoved } = row;
    const at = toInstant(this.now);
    return {
      id,
      project,
      name,
      origin,
      revision,
      state: isRemoved ? 'removed' : paused ? 'paused' : 'active',
      createdAt: at,
      updatedAt: at,
      definition: toDefinition(definition),
      ...(paused ? { paused } : {}),
    };
  }
}
