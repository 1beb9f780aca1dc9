import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMs, residentMb, type Started } from './server-process.ts';

/** What a server had used at one moment. */
interface Sample {
  /** UTC milliseconds. */
  readonly at: number;
  readonly cpuMs: number;
  readonly residentMb: number;
}

/** How often a server is looked at, from outside; it does nothing for that. Milliseconds. */
const everyMs = 50;

/** Looks at a server from outside while it works: what it uses, and how that grows. */
export class ServerWatch {
  readonly #server: Started;
  readonly #samples: Sample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(server: Started) {
    this.#server = server;
    this.#look();
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  /** Looks a last time. */
  end(): void {
    clearInterval(this.#timer);
    this.#look();
  }

  /** Milliseconds of CPU until this instant (UTC milliseconds), between two looks in proportion. */
  cpuAt(at: number): number {
    const behind = this.#samples.findIndex((sample) => sample.at >= at);
    const after = this.#samples[behind] ?? this.#samples.at(-1);
    const before = this.#samples[behind - 1] ?? after;
    if (!before || !after) return Number.NaN;
    const share = after.at === before.at ? 0 : (at - before.at) / (after.at - before.at);
    return before.cpuMs + (after.cpuMs - before.cpuMs) * Math.min(1, Math.max(0, share));
  }

  /** Resident memory at the last look before this instant, in MB. */
  residentAt(at: number): number {
    return (
      (this.#samples.findLast((sample) => sample.at <= at) ?? this.#samples[0])?.residentMb ?? Number.NaN
    );
  }

  /** The most that was in memory at any look, in MB. */
  get peakMb(): number {
    return Math.max(...this.#samples.map(({ residentMb: mb }) => mb));
  }

  #look(): void {
    const server = this.#server;
    this.#samples.push({ at: Date.now(), cpuMs: cpuMs(server), residentMb: residentMb(server) });
  }
}

/** How large the database is, its log included, in MB. */
export function databaseMb(dataDir: string): number {
  const sizes = ['stemma.db', 'stemma.db-wal'].map(
    (name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1e6;
}

/** What one of many like things cost in a part of a run. */
export interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly residentMb: number;
}

/** What each cost in the first tenth, in the middle and in the last tenth. `ends`: when each was over, in that order. */
export function costOfTenths(watch: ServerWatch, ends: readonly number[]): readonly [Cost, Cost, Cost] {
  const count = Math.max(1, Math.floor(ends.length / 10));
  const from = (first: number): Cost => {
    // The first is where the clock begins: it has what goes before all of them.
    const begun = ends[Math.max(0, first - 1)] ?? Number.NaN;
    const last = Math.min(ends.length - 1, first + count - 1);
    const over = ends[last] ?? Number.NaN;
    const steps = last - Math.max(0, first - 1);
    return {
      cpuMs: (watch.cpuAt(over) - watch.cpuAt(begun)) / steps,
      wallMs: (over - begun) / steps,
      residentMb: watch.residentAt(over),
    };
  };
  return [from(0), from(Math.floor((ends.length - count) / 2)), from(ends.length - count)];
}

/** What of the heap was in use after a tenth of them, in the middle and at the end, in MB, as the probe in the server saw it. */
export function heapOfTenths(file: string, ends: readonly number[]): number[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const seen = lines.map((line) => line.split(' ').map(Number));
  return [0.1, 0.5, 0.99]
    .map((share) => {
      const at = ends[Math.floor(ends.length * share)] ?? 0;
      return (seen.find(([when = 0]) => when >= at) ?? seen.at(-1))?.[1] ?? Number.NaN;
    })
    .map((bytes) => bytes / 1e6);
}
