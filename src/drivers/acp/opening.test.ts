import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { startTestTools, type TestTools } from '../conformance/test-tools.ts';
import { Bench } from './acp-harness.ts';
import { acpDriver } from './driver.ts';

vi.setConfig({ testTimeout: 90_000 });

let bench: Bench;
let tools: TestTools | undefined;

afterEach(async () => {
  await bench.close();
  await tools?.close();
  tools = undefined;
});
test('an agent that does not come up is unavailable, and says why', async () => {
  const cases = [
    [{ rules: [], onInitialize: [{ exit: 7 }] }, 'exited with code 7', 60_000],
    [
      { rules: [], onInitialize: [{ garbage: 'Welcome to my shell' }, { exit: 7 }] },
      'Welcome to my shell',
      60_000,
    ],
    [{ rules: [], onInitialize: [{ hang: true }] }, 'no answer to initialize in time', 2000],
    [{ rules: [], onSession: [{ kill: true }] }, 'ended by SIGKILL', 60_000],
    [{ rules: [], onSession: [{ hang: true }] }, 'no answer to', 4000],
  ] as const;
  const results = cases.map(async ([script, expected, openingMs]) => {
    const own = new Bench(script, {}, openingMs);
    const result = await own.open();
    await own.close();
    expect(result).toMatchObject({ ok: false, code: 'AGENT_UNAVAILABLE' });
    expect(result.ok ? '' : result.message).toContain(expected);
  });
  await Promise.all(results);
  bench = new Bench([], { command: ['sh', '-c', 'echo "no such model" >&2; exit 1'] });
  const result = await bench.open();
  expect(result.ok ? '' : result.message).toMatch(/exited with code 1\nstderr: no such model/);
  await bench.close();
  bench = new Bench([], { command: ['no-such-agent'] });
  expect(await bench.open()).toMatchObject({ ok: false, code: 'AGENT_UNAVAILABLE' });
  await bench.close();
  bench = new Bench([], { model: 'huge' });
  expect(await bench.open()).toMatchObject({ ok: false, code: 'AGENT_UNAVAILABLE' });
  await bench.close();
  bench = new Bench({ rules: [], onSession: [{ login: 'who are you?' }] });
  expect(await bench.open()).toMatchObject({ ok: false, code: 'AGENT_FAILED' });
});

test('a conversation that the agent cannot have again is gone', async () => {
  bench = new Bench({ rules: [], offers: { load: false } });
  const conversation = await bench.conversation();
  await conversation.end();
  expect(await bench.open({ nativeId: conversation.nativeId })).toMatchObject({
    ok: false,
    code: 'SESSION_GONE',
  });
  await bench.close();
  bench = new Bench([]);
  expect(await bench.open({ nativeId: 'demo-unknown' })).toMatchObject({ ok: false, code: 'SESSION_GONE' });
});

test('an agent without HTTP tools works, and says that it has none', async () => {
  tools = await startTestTools();
  bench = new Bench({
    rules: [{ when: 'go', do: [{ call: 'echo' }, { say: 'ok' }] }],
    offers: { tools: false },
  });
  const conversation = await bench.conversation({ tools });
  await conversation.start({ id: 'd1', text: 'go' });
  await bench.event('turnEnded');
  expect(bench.told()[0]).toContain('it gets no tools');
  expect(tools.calls).toEqual([]);
});

test('a probe finds the program, its version, and what it does not give', async () => {
  bench = new Bench({ rules: [], offers: { load: false, tools: false } }, { sandbox: 'readOnly' });
  const driver = acpDriver({ clock: systemClock });
  const probed = await driver.probe(bench.profile);
  expect(probed).toMatchObject({ found: true, version: '1' });
  expect(probed.warnings.join(' ')).toMatch(/no tools.*sandbox: readOnly.*cannot load/);
  expect(await driver.probe({ ...bench.profile, command: ['no-such-agent'] })).toMatchObject({
    found: false,
  });
  const other = await driver.probe({ ...bench.profile, command: ['sh', '-c', 'echo usage; exit 2'] });
  expect(other.found).toBe(true);
  expect(other.warnings.join(' ')).toMatch(/does not answer as an ACP agent: exited with code 2.*usage/s);
});
