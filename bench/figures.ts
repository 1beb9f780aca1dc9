import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';

/** The value below which a share `p` of the values lies. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The middle value with the smallest and the largest. */
export function spread(values: readonly number[], digits = 0): string {
  const show = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: digits });
  return `${show(median(values))} [${show(Math.min(...values))}-${show(Math.max(...values))}]`;
}

/** Writes of 8 KiB, each forced to the disk, in a file of its own: what the disk can do, one at a time. */
export class Disk {
  readonly #path: string;
  readonly #file: number;
  readonly #block = Buffer.alloc(8192, 1);
  #place = 0;

  constructor(directory: string) {
    this.#path = join(directory, 'fsync.probe');
    this.#file = openSync(this.#path, 'w');
  }

  /** Forced writes a second, over `count` of them. */
  rate(count: number): number {
    const begun = performance.now();
    for (let i = 0; i < count; i++) {
      this.#place = (this.#place + 1) % 512;
      writeSync(this.#file, this.#block, 0, 8192, this.#place * 8192);
      fsyncSync(this.#file);
    }
    return (count / (performance.now() - begun)) * 1000;
  }

  close(): void {
    closeSync(this.#file);
    rmSync(this.#path);
  }
}

/** Prints what was measured, on what, and how busy the machine was with other things. */
export function report(title: string, library: string, rows: readonly (readonly string[])[]): void {
  const load = loadavg()[0] ?? 0;
  console.log(
    `\n${title}   (${library}, node ${process.versions.node}, ${cpus().length} cores, load ${load.toFixed(1)})`,
  );
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    console.log(`  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd());
}
