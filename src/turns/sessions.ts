import type { SessionId } from '../base/ids.ts';
import { callNext } from '../ledger/admission.ts';
import type { CallEvidence } from '../ledger/parent.ts';
import type { TurnsContext } from './ports.ts';
import { SessionTurns } from './session-turns.ts';

/**
 * How long a server that starts waits for its sessions, in milliseconds. A living agent is adopted far sooner; a dead one is
 * started again to read its record, and may take as long as it likes to open.
 */
const recoverWithinMs = 3_000;

/** The sessions that this process runs, each with its own order of things. */
export class Sessions {
  readonly #context: TurnsContext;
  readonly #sessions = new Map<SessionId, SessionTurns>();
  #state: 'recovering' | 'open' | 'stopping' = 'recovering';
  readonly #waiting: (() => void)[] = [];

  constructor(context: TurnsContext) {
    this.#context = context;
  }

  /** Whether sessions take tool calls, registrations and deliveries yet. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /**
   * The restart order: of every session that an earlier process may have left something in, the old process is adopted
   * or found dead, what it did meanwhile is told, and open claims are resolved. Only then do sessions open; one that takes
   * longer than all others may wait opens by itself when it is done.
   */
  async recover(sessionIds: readonly SessionId[]): Promise<void> {
    const recovered = Promise.all(
      sessionIds.map((id) =>
        this.of(id)
          .recover()
          .catch((error: unknown) => this.#failed(id, error)),
      ),
    );
    let cancel = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.#context.clock.after(recoverWithinMs, resolve);
    });
    await Promise.race([recovered, late]);
    cancel();
    if (this.#state === 'recovering') this.#state = 'open';
    for (const tell of this.#waiting.splice(0)) tell();
  }

  /** Waits until sessions are open, at most so long; whether they are. */
  async untilOpen(withinMs: number): Promise<boolean> {
    if (this.#state !== 'recovering') return this.isOpen;
    await new Promise<void>((resolve) => {
      const cancel = this.#context.clock.after(withinMs, resolve);
      this.#waiting.push(() => {
        cancel();
        resolve();
      });
    });
    return this.isOpen;
  }

  /** The turns of one session. */
  of(id: SessionId): SessionTurns {
    const known = this.#sessions.get(id) ?? new SessionTurns(this.#context, id);
    this.#sessions.set(id, known);
    return known;
  }

  /** Handles the wake-up of a session. */
  async deliver(id: SessionId): Promise<void> {
    if (this.#state === 'open') await this.of(id).deliver();
  }

  /** Handles the wake-up of the line: those for whom there is a turn slot now are woken. */
  async callNext(): Promise<void> {
    const { store, clock, limits } = this.#context;
    await store.decide(() => callNext({ now: clock.now(), limits }));
  }

  locate(id: SessionId, meta: Readonly<Record<string, unknown>>): Promise<CallEvidence> {
    return this.of(id).locate(meta);
  }

  /** Stops listening to every agent and resolves when nothing is under way. Agents live on. */
  async detach(): Promise<void> {
    this.#state = 'stopping';
    await Promise.all([...this.#sessions.values()].map((session) => session.detach()));
  }

  /** Ends every agent that this process listens to. */
  async endAll(reason: string): Promise<void> {
    const open = [...this.#sessions.values()].filter((session) => session.isOpen);
    await Promise.all(open.map((session) => session.end(reason)));
  }

  #failed(id: SessionId, error: unknown): void {
    this.#context.report('recovery.failed', { sessionId: id, error: String(error) });
  }
}
