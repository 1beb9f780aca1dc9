import pg from 'pg';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { StemmaError } from '../../base/errors.ts';

/** How long to wait before the claim is made again after its connection broke, in milliseconds. */
const againMs = 1_000;

/** What a claim needs. */
export interface SoleServerParts {
  readonly url: string;
  /** The database for people. */
  readonly place: string;
  readonly clock: Clock;
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/**
 * One server works on a database at a time: it holds a lock on a connection of its own, which ends with the process, whatever
 * becomes of it. When the connection breaks the lock is taken again; when another server has taken it meanwhile, this one must decide nothing more.
 */
export class SoleServer {
  readonly #parts: SoleServerParts;
  #client: pg.Client | undefined;
  #timer: CancelTimer | undefined;
  #isTaken = false;
  #isOver = false;

  private constructor(parts: SoleServerParts) {
    this.#parts = parts;
  }

  /** Rejects with `DATABASE_IN_USE`, or with what the driver says. */
  static async claim(parts: SoleServerParts): Promise<SoleServer> {
    const sole = new SoleServer(parts);
    if (await sole.#take()) return sole;
    throw inUse(parts.place);
  }

  /** Why this server must decide nothing more; undefined while it may. */
  get refusal(): StemmaError | undefined {
    return this.#isTaken ? inUse(this.#parts.place) : undefined;
  }

  async release(): Promise<void> {
    this.#isOver = true;
    this.#timer?.();
    await this.#client?.end().catch(() => undefined);
  }

  async #take(): Promise<boolean> {
    const client = new pg.Client({
      connectionString: this.#parts.url,
      application_name: 'stemma: the one server',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    client.on('error', () => this.#lost(client));
    try {
      await client.connect();
      const found = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock(7305805, 3) AS held');
      if (found.rows[0]?.held !== true) {
        await client.end();
        return false;
      }
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.#client = client;
    return true;
  }

  #lost(client: pg.Client): void {
    if (this.#isOver || this.#client !== client) return;
    this.#client = undefined;
    this.#again();
  }

  #again(): void {
    const { clock, place, report } = this.#parts;
    this.#timer = clock.after(againMs, () => {
      this.#take().then(
        (isHeld) => {
          if (isHeld && this.#isOver) return void this.#client?.end();
          this.#isTaken = !isHeld;
          if (!isHeld) report('database.taken', { database: place });
        },
        () => {
          if (!this.#isOver) this.#again();
        },
      );
    });
  }
}

function inUse(place: string): StemmaError {
  const message = `Another server works on the database ${place}: stop that one, or give this one a database of its own.`;
  return new StemmaError('DATABASE_IN_USE', message, { database: place });
}
