import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { waitUntil } from '../../base/pause.ts';
import { launchStdio } from '../../processes/durable-stdio.ts';
import type { DriverEvent, Opened, OpenRequest } from '../port.ts';
import { piDriver } from './driver.ts';
import { Opening } from './opening.ts';

let root: string;
let events: DriverEvent[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pi-open-'));
  events = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The program answers the first command as pi does, and goes on as `then` says. */
const answering = (then: string): string => `
  const data = { isStreaming: false, isCompacting: false, pendingMessageCount: 0, sessionFile: '/s', model: { provider: 'p', id: 'm' } };
  process.stdin.once('data', (line) => {
    console.log(JSON.stringify({ type: 'response', command: 'get_state', success: true, id: JSON.parse(line).id, data }));
    ${then}
  });`;
const forever = "setInterval(() => console.log('x\\n'.repeat(2000)), 1);";

function open(program: string): Promise<Opened> {
  const driver = piDriver({ clock: systemClock });
  return driver.open({
    sessionId: 's' as OpenRequest['sessionId'],
    profile: { name: 'pi', driver: 'pi', command: [process.execPath, '-e', program, '--'] },
    cwd: root,
    directory: root,
    position: 0,
    unresolved: [],
    emit: (event) => void events.push(event),
  });
}

const exited = (): Promise<boolean> =>
  waitUntil(systemClock, () => events.some(({ type }) => type === 'exited'), 30_000);

describe('a pi that does not behave', () => {
  it('is ended when it prints without end while it opens', async () => {
    const opened = await open(forever);
    expect(opened).toMatchObject({ ok: false, code: 'AGENT_UNAVAILABLE' });
    expect(opened.ok ? '' : opened.message).toMatch(/in a row that are no messages of pi/);
  });

  it('is ended when it prints without end in an open conversation', async () => {
    const opened = await open(answering(`setTimeout(() => { ${forever} }, 300);`));
    expect(opened).toMatchObject({ ok: true });
    expect(await exited()).toBe(true);
    expect(events.at(-1)).toMatchObject({ reason: expect.stringMatching(/in a row that are no messages/) });
    expect(events.length).toBeLessThan(200);
  });

  it('is either refused or told as dead when it dies with its first answer', async () => {
    const opened = await open(answering('process.exit(3);'));
    expect(!opened.ok || (await exited())).toBe(true);
  });

  it('gives up an opening whose process died behind its answer', async () => {
    const launched = await launchStdio({
      argv: [process.execPath, '-e', answering('')],
      env: {},
      cwd: root,
      directory: root,
      clock: systemClock,
    });
    if (!launched.ok) throw new Error(launched.message);
    const opening = new Opening(launched.process, systemClock, 30_000);
    launched.process.listen({
      from: 0,
      onLine: (line, end) => {
        opening.take(line, end);
        opening.exit('exited with code 3');
      },
      onExit: () => undefined,
    });
    expect(await opening.open(undefined)).toMatchObject({ ok: true });
    expect(opening.lateExit).toMatchObject({ ok: false, message: 'exited with code 3' });
    await launched.process.end({ graceMs: 100 });
  });
});
