import { MessageChannel } from 'node:worker_threads';

/**
 * Runs `work` and keeps the process alive until it has settled. The clock's timers do not: without this, a command that
 * pauses before it asks a restarting server again would end the process in the middle, with exit code 0 or 13.
 */
export async function keepAlive<T>(work: () => Promise<T>): Promise<T> {
  const { port1 } = new MessageChannel();
  port1.on('message', () => {});
  try {
    return await work();
  } finally {
    port1.close();
  }
}
