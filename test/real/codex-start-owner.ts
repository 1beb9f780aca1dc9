import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Delivery, OpenRequest } from '../../src/drivers/port.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A conversation in another process, to be killed. */
export interface Owner {
  readonly lines: Record<string, unknown>[];
  line(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  kill(): Promise<void>;
}

/** Starts `codex-owner.ts` with this request; it sends the text at once, and the steer during the first tool call. */
export function startOwner(request: OpenRequest, delivery: Delivery, steer?: Delivery): Owner {
  const argument = JSON.stringify({ ...request, delivery, ...(steer ? { steer } : {}) });
  const args = ['--import', 'tsx', 'test/real/codex-owner.ts', argument];
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines: Record<string, unknown>[] = [];
  const waiters = new Set<() => void>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
    lines.push(JSON.parse(text) as Record<string, unknown>);
    for (const look of waiters) look();
  });
  return {
    lines,
    line: (fits) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`the owner never said so: ${JSON.stringify(lines)}`)),
          30_000,
        );
        const look = (): void => {
          const found = lines.find(fits);
          if (!found) return;
          clearTimeout(timer);
          waiters.delete(look);
          resolve(found);
        };
        waiters.add(look);
        look();
      }),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
