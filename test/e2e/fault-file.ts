import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file that says to a running server at which fault point it dies, and what points it has reached since. */
export class FaultFile {
  readonly #file: string;

  constructor(directory: string) {
    this.#file = join(directory, 'fault');
  }

  /** What the server's `STEMMA_FAULT` is. */
  get setting(): string {
    return `@${this.#file}`;
  }

  /** From now on points are noted, and at this one, `POINT:N`, the server dies; without one at none. */
  arm(fault = 'none:1'): void {
    rmSync(`${this.#file}.reached`, { force: true });
    writeFileSync(this.#file, fault);
  }

  disarm(): void {
    rmSync(this.#file, { force: true });
  }

  /** How often each point was reached since `arm`. */
  reached(): Map<string, number> {
    const file = `${this.#file}.reached`;
    const points = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    const counts = new Map<string, number>();
    for (const point of points) counts.set(point, (counts.get(point) ?? 0) + 1);
    return counts;
  }
}
