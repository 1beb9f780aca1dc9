import type { SessionId, TurnId } from '../base/ids.ts';
import { isSettled } from '../ledger/execution.ts';
import { ask } from '../ledger/questions.ts';
import type { Session } from '../ledger/session.ts';
import type { Turn } from '../ledger/turn.ts';
import type { TurnsContext } from './ports.ts';

/** What the ledger says of one session now. */
export class SessionRows {
  readonly #store: TurnsContext['store'];
  readonly #id: SessionId;

  constructor({ store }: Pick<TurnsContext, 'store'>, id: SessionId) {
    this.#store = store;
    this.#id = id;
  }

  session(): Promise<Session | undefined> {
    return this.#store.read(() => ask('session', this.#id));
  }

  turn(id: TurnId): Promise<Turn | undefined> {
    return this.#store.read(() => ask('turn', id));
  }

  /** The turn that has the lane. */
  async laneTurn(): Promise<Turn | undefined> {
    const session = await this.session();
    return session?.laneTurn ? this.turn(session.laneTurn) : undefined;
  }

  /** Whether the agent calls one of the turns that ran then by this name. */
  async isTurnOf({ laneTurn, wakeTurn }: Session, nativeTurnId: string): Promise<boolean> {
    for (const id of [laneTurn, wakeTurn])
      if (id !== null && (await this.turn(id))?.nativeTurnId === nativeTurnId) return true;
    return false;
  }

  /** Whether nobody wants the turn any more. */
  async isCancelled(id: TurnId): Promise<boolean> {
    const owners = await this.#store.read(() => ask('owners', id));
    const open = owners.filter((owner) => !isSettled(owner.state));
    return open.every((owner) => owner.cancelRequested !== null);
  }

  async hasTasks(): Promise<boolean> {
    return (await this.#store.read(() => ask('liveTasks', this.#id))).length > 0;
  }

  /** Whether a steered text is with the agent, or may be. */
  async hasOpenSteers(): Promise<boolean> {
    return (await this.#store.read(() => ask('openSteers', this.#id))).length > 0;
  }
}
