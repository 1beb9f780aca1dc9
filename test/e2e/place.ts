import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A directory and the sessions that work in it. Starting an agent is most of what a test costs, so a place is lent to one
 * test after the other, as long as its sessions are idle in between.
 */
export class Place {
  readonly directory: string;
  /** The session of each agent. */
  readonly sessions = new Map<string, string>();

  constructor(directory: string) {
    mkdirSync(directory);
    this.directory = directory;
  }

  /** Removes the files of the test that was here. */
  sweep(): void {
    for (const name of readdirSync(this.directory)) rmSync(join(this.directory, name), { recursive: true });
  }
}

/** The places that are free. */
export class Places {
  readonly #root: string;
  readonly #free: Place[] = [];
  #made = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** One that nobody is in; `fresh`: that nobody ever was in. */
  take(fresh: boolean): Place {
    const known = fresh ? undefined : this.#free.pop();
    return known ?? new Place(join(this.#root, `place-${++this.#made}`));
  }

  giveBack(place: Place): void {
    place.sweep();
    this.#free.push(place);
  }
}
