import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

/**
 * Runs a test on a disk of its own, mounted with these options (`size=` is put before them). Mounting takes root: where
 * it cannot be had the test is skipped, and says so.
 */
export async function withSmallDisk(
  context: TestContext,
  options: string,
  body: (disk: string) => Promise<void>,
): Promise<void> {
  const disk = mkdtempSync(join(tmpdir(), 'stemma-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${options}`, 'tmpfs', disk], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(disk);
    process.stderr.write(`SKIPPED, no disk can be mounted here: ${context.task.name}: ${String(error)}\n`);
    return context.skip();
  }
  try {
    await body(disk);
  } finally {
    execFileSync('umount', ['--lazy', disk], { stdio: 'pipe' });
    rmdirSync(disk);
  }
}

/** Writes a file until the disk has no room left. */
export function fill(file: string): void {
  const piece = Buffer.alloc(4096);
  for (;;) {
    try {
      appendFileSync(file, piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw error;
    }
  }
}
