import type { Clock } from '../../base/clock.ts';
import type { ServerPlace } from './environment.ts';
import { type LinkOpened, ServerLink } from './server-link.ts';

/** The connections of this process, one for each app-server. */
export class Links {
  readonly #clock: Clock;
  readonly #open = new Map<string, Promise<LinkOpened>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The connection to the server of a place; `launch` says whether to start one where none lives. It is pinned: the caller
   * releases it when the conversation is open, or will not be.
   */
  async get(place: ServerPlace, launch: boolean): Promise<LinkOpened> {
    const known = this.#open.get(place.directory);
    const opening = known ?? ServerLink.open(place, this.#clock, launch, () => this.#forget(place, opening));
    this.#open.set(place.directory, opening);
    const opened = await opening;
    if (opened.ok && opened.link.isOpen) {
      opened.link.pin();
      return opened;
    }
    // One that is being ended is neither found nor doubled: it would take a conversation with it.
    if (opened.ok) await opened.link.whenNotEnding();
    if (!opened.ok || !opened.link.isOpen) this.#forget(place, opening);
    // What another call found may be of no use any more, or may have been looked for without launching.
    return known || opened.ok ? this.get(place, launch) : opened;
  }

  #forget(place: ServerPlace, opening: Promise<LinkOpened>): void {
    if (this.#open.get(place.directory) === opening) this.#open.delete(place.directory);
  }
}
