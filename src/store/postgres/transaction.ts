import type pg from 'pg';
import type { ExecutionId } from '../../base/ids.ts';
import type { Effect, LedgerEvent, Wake } from '../../ledger/effects.ts';
import type { WakeRow } from '../../wakeups/rows.ts';
import type { TableName } from '../apply.ts';
import { applyEffects, keyOfRow, mergeWakes } from '../apply.ts';
import type { Cell, Param } from '../sql/connection.ts';
import { inGroups } from '../sql/event-rows.ts';
import type { CommittedRows } from '../whole-store.ts';
import { Changes } from './changes.ts';
import type { Ran, Value } from './pool.ts';
import { execute } from './pool.ts';
import type { Prepared, ReplayedConnection } from './replay.ts';
import { WantedResult, WantedRows } from './replay.ts';
import { rowOf, selection, upward } from './row-statements.ts';
import type { Write } from './row-statements.ts';
import type { ChangingWork, PostgresTables } from './tables.ts';
import { writesOf } from './write-changes.ts';

/** What a transaction works with that is the same for all of them. */
export interface TransactionTools {
  readonly connection: ReplayedConnection<ChangingWork>;
  readonly tables: PostgresTables;
}

/** How much there was to tell. */
export interface Mark {
  readonly events: number;
  readonly wakes: number;
}

/** One transaction that has begun: what it knows, what it has changed, and what it has to tell. Used by one caller at a time. */
export class Transaction implements ChangingWork {
  #changes = new Changes();
  readonly #client: pg.ClientBase;
  readonly #tools: TransactionTools;
  readonly #events: LedgerEvent[] = [];
  readonly #wakes: Wake[] = [];
  #results: Ran[] = [];
  #place = 0;
  /** Effects are applied: whoever is read may close what is above it. */
  #applies = false;
  #isBroken = false;

  constructor(client: pg.ClientBase, tools: TransactionTools) {
    this.#client = client;
    this.#tools = tools;
  }

  get changes(): Changes {
    return this.#changes;
  }

  /** A statement has failed: nothing can be done with it but to go back. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  next(statement: Prepared, params: readonly Param[]): Ran {
    const known = this.#results[this.#place];
    if (!known) throw new WantedResult(statement, params);
    this.#place++;
    return known;
  }

  /** Calls what answers at once until it has everything that it needs. It may be called many times, and must do the same each time. */
  async perform<T>(call: () => T): Promise<T> {
    this.#results = [];
    for (;;) {
      this.#place = 0;
      try {
        return this.#tools.connection.within(this, call);
      } catch (thrown) {
        if (thrown instanceof WantedResult) await this.#ask(thrown);
        else if (thrown instanceof WantedRows) await this.#read(thrown);
        else throw thrown;
      }
    }
  }

  /** Applies the effects of one decision. When it throws nothing of them is left, unless the database said no. */
  async apply(effects: readonly Effect[], now: number): Promise<void> {
    this.#applies = true;
    try {
      const journal = await this.perform(() => {
        this.#changes.drop();
        const told = { events: [] as LedgerEvent[], wakes: [] as Wake[] };
        applyEffects(effects, this.#tools.tables, told, now);
        return told;
      });
      this.#changes.keep();
      this.#events.push(...journal.events);
      this.#wakes.push(...journal.wakes);
    } finally {
      this.#changes.drop();
      this.#applies = false;
    }
  }

  mark(): Mark {
    return { events: this.#events.length, wakes: this.#wakes.length };
  }

  /** After a rollback to where the mark was made: what was read since may never have been. */
  cutBack(mark: Mark): void {
    this.#changes = new Changes();
    this.#events.length = mark.events;
    this.#wakes.length = mark.wakes;
    this.#isBroken = false;
  }

  /** Writes what has changed, and has every reference looked at. */
  async write(): Promise<void> {
    await this.#flush();
    await this.#whole(this.#client.query('SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED'));
  }

  /**
   * Writes everything, what is to be told last of all, and answers that, with the transaction's own id by which one can ask later
   * what has become of it; null when it has written nothing.
   */
  async finish(): Promise<{ readonly told: CommittedRows; readonly id: string | null }> {
    await this.write();
    const wakes = await this.#owe(mergeWakes(this.#wakes));
    const { rows } = inGroups(this.#events, this.#events.length);
    const ran = await this.#execute(
      'SELECT append_events($1::BIGINT[], $2::TEXT[]), pg_current_xact_id_if_assigned()::TEXT',
      [rows.map((row) => row.count), rows.map((row) => row.written)],
    );
    const [last, id] = ran.rows[0] as [number, string | null];
    const events = inGroups(this.#events, last - this.#events.length).stored;
    return { told: { events, wakes }, id };
  }

  async #owe(wakes: readonly Wake[]): Promise<WakeRow[]> {
    if (wakes.length === 0) return [];
    const sorted = [...wakes].sort((a, b) => (keyOf(a.kind, a.target) < keyOf(b.kind, b.target) ? -1 : 1));
    const { rows } = await this.#execute(
      `INSERT INTO wakeups (kind, target, due, revision)
       SELECT kind, target, due, 1 FROM unnest($1::TEXT[], $2::TEXT[], $3::BIGINT[]) AS given (kind, target, due)
       ON CONFLICT (kind, target) DO UPDATE
       SET due = least(wakeups.due, excluded.due), revision = wakeups.revision + 1
       RETURNING kind, target, revision`,
      [sorted.map((wake) => wake.kind), sorted.map((wake) => wake.target), sorted.map((wake) => wake.at)],
    );
    const revisions = new Map(rows.map(([kind, target, revision]) => [keyOf(kind, target), revision]));
    return wakes.map((wake) => ({ ...wake, revision: Number(revisions.get(keyOf(wake.kind, wake.target))) }));
  }

  async #ask({ statement, params }: WantedResult): Promise<void> {
    if (this.#changes.touch(statement.tables)) await this.#flush();
    this.#results.push(await this.#execute(statement.text, params));
  }

  async #read({ of, ids }: WantedRows): Promise<void> {
    if (of === 'holders') return this.#readHolders(ids);
    if (of !== 'execution' || !this.#applies) {
      await this.#keep(of, ids, selection(of, ids));
      return;
    }
    const above = await this.#keep(of, ids, upward(ids));
    await this.#readHolders([...ids, ...above]);
  }

  async #keep(of: TableName, ids: readonly string[], write: Write): Promise<string[]> {
    const { rows } = await this.#execute(write.text, write.values);
    const known = this.#changes.tables[of].now as Map<string, unknown>;
    const found = rows.map((cells) => keyed(of, cells));
    // What was changed and is not written yet is newer than what the database has.
    for (const [id, row] of found) if (!known.has(id)) known.set(id, row);
    for (const id of ids) if (!known.has(id)) known.set(id, null);
    return found.map(([id]) => id);
  }

  async #readHolders(ids: readonly string[]): Promise<void> {
    const wanted = [...new Set(ids)].filter((id) => !this.#changes.holdersOf(id as ExecutionId));
    if (wanted.length === 0) return;
    const { rows } = await this.#execute(
      'SELECT execution_id, holder_id FROM holds WHERE execution_id = ANY ($1) ORDER BY execution_id, holder_id',
      [wanted],
    );
    const found = new Map<string, ExecutionId[]>(wanted.map((id) => [id, []]));
    for (const [id, holder] of rows) found.get(String(id))?.push(holder as ExecutionId);
    for (const [id, holders] of found) this.#changes.holders.set(id as ExecutionId, holders);
  }

  async #flush(): Promise<void> {
    for (const { text, values, count } of writesOf(this.#changes)) {
      const { changes } = await this.#execute(text, values);
      if (count === undefined || changes === count) continue;
      this.#isBroken = true;
      throw new Error(`${changes} rows were changed instead of ${count}: ${text}`);
    }
    this.#changes.written();
  }

  #execute(text: string, values: readonly Value[]): Promise<Ran> {
    return this.#whole(execute(this.#client, text, values));
  }

  async #whole<T>(ran: Promise<T>): Promise<T> {
    try {
      return await ran;
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }
}

function keyOf(kind: Cell | undefined, target: Cell | undefined): string {
  return `${kind}:${target}`;
}

function keyed(of: TableName, cells: readonly Cell[]): [string, unknown] {
  const row = rowOf(of, cells);
  return [keyOfRow(of, row), row];
}
