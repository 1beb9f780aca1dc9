import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Receiver } from '../../test/notify/receiver.ts';

const teller = join(import.meta.dirname, '../../test/notify/teller.program.ts');

describe('a server that is killed between sending and writing it down', () => {
  let directory: string;
  let receiver: Receiver;
  /** Runs the program until it is done or dead; answers which signal ended it. */
  const tell = (fault?: string): Promise<NodeJS.Signals | null> =>
    new Promise((resolve) => {
      const env = { ...process.env, ...(fault === undefined ? {} : { STEMMA_FAULT: fault }) };
      const child = spawn(process.execPath, ['--import', 'tsx', teller, directory, receiver.url], {
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      child.stdin.on('error', () => undefined);
      child.stdout.once('data', () => child.stdin.end());
      child.on('exit', (_code, signal) => resolve(signal));
    });

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-notify-killed-'));
    receiver = await Receiver.listen();
  });
  afterEach(async () => {
    await receiver.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('sends the same again when it is back, under the same id, and then never again', async () => {
    expect(await tell('notify.sent:1')).toBe('SIGKILL');
    expect(receiver.received).toHaveLength(1);
    expect(await tell()).toBe(null);
    expect(await tell()).toBe(null);
    expect(receiver.received).toHaveLength(2);
    const [one, two] = receiver.received;
    expect(one?.headers['webhook-id']).toBe('missed:one');
    expect(two?.headers['webhook-id']).toBe('missed:one');
    expect(two?.body).toBe(one?.body);
  });
});
