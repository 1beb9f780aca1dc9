import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { pause, waitUntil } from '../../base/pause.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../../processes/process-identity.ts';
import { startTestTools } from '../conformance/test-tools.ts';
import { programFromSource } from '../demo/demo-from-source.ts';
import type { Delivery, DriverEvent } from '../port.ts';
import { Bench, told } from './acp-harness.ts';

/* The owner of a conversation is killed, and another process takes over: nothing is told twice, and nothing is lost. */

vi.setConfig({ testTimeout: 90_000 });

interface Owner {
  readonly child: ChildProcess;
  readonly events: DriverEvent[];
  readonly facts: { nativeId?: string; outcome?: unknown };
}

const benches: Bench[] = [];
const owners: Owner[] = [];

afterEach(async () => {
  for (const { child } of owners.splice(0)) child.kill('SIGKILL');
  for (const bench of benches.splice(0)) await bench.close();
});

function makeTracked(...args: ConstructorParameters<typeof Bench>): Bench {
  const bench = new Bench(...args);
  benches.push(bench);
  return bench;
}

function startOwner(bench: Bench, delivery?: Delivery): Owner {
  const argument = JSON.stringify({
    profile: bench.profile,
    root: bench.root,
    directory: join(bench.root, 'session'),
    delivery,
  });
  const [program = '', ...args] = programFromSource(
    new URL('./acp-owner.program.ts', import.meta.url),
    argument,
  );
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const owner: Owner = { child, events: [], facts: {} };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { event, ...facts } = JSON.parse(line) as { event?: DriverEvent };
    if (event) owner.events.push(event);
    else Object.assign(owner.facts, facts);
  });
  owners.push(owner);
  return owner;
}

async function kill(owner: Owner): Promise<void> {
  const closed = once(owner.child, 'close');
  owner.child.kill('SIGKILL');
  await closed;
}

function agentOf(bench: Bench): ProcessIdentity {
  return JSON.parse(readFileSync(join(bench.root, 'session', 'process.json'), 'utf8')) as ProcessIdentity;
}

/** Opens as a server does that had processed what the dead owner told. */
function takeOver(bench: Bench, owner: Owner): ReturnType<Bench['open']> {
  const { nativeId } = owner.facts;
  return bench.open({
    position: owner.events.at(-1)?.position ?? 0,
    ...(nativeId === undefined ? {} : { nativeId }),
  });
}

const stream = Array.from({ length: 12 }, (_, index) => ({ say: `${index} `, afterMs: 25 }));
const whole = stream.map(({ say }) => say).join('');

test.each([0, 60, 150, 260, 400])(
  'a turn goes on when its owner is killed %i ms into it',
  async (delayMs) => {
    const bench = makeTracked([
      { when: 'go', do: [...stream.slice(0, 6), { work: 'make', ms: 40 }, ...stream.slice(6)] },
    ]);
    const owner = startOwner(bench, { id: 'd1', text: 'go' });
    await waitUntil(systemClock, () => owner.facts.outcome !== undefined, 30_000);
    await pause(systemClock, delayMs);
    await kill(owner);
    const agent = agentOf(bench);
    const opened = await takeOver(bench, owner);
    if (!opened.ok) throw new Error(opened.message);
    expect(opened.how).toBe('adopted');
    expect(isAlive(agent)).toBe(true);
    const all = (): DriverEvent[] => [...owner.events, ...bench.events];
    await waitUntil(systemClock, () => all().some((event) => event.type === 'turnEnded'), 30_000);
    expect(told(all()).filter((line) => !line.startsWith('text'))).toEqual([
      'started prompt:dd1',
      'toolCall: make',
      'toolResult: done',
      `ended succeeded: ${whole.slice(whole.indexOf('6 '))}`,
    ]);
    const words = all().map((event) =>
      event.type === 'item' && event.item.kind === 'text' ? event.item.text : '',
    );
    expect(words.join('')).toBe(whole);
    expect(await opened.conversation.evidence('d1')).toMatchObject({ state: 'consumed' });
    // The adopter is an owner like any other.
    expect(await opened.conversation.start({ id: 'd2', text: 'go' })).toEqual({ outcome: 'written' });
    await bench.event('turnEnded', (event) => event.nativeTurnId === 'prompt:d2');
  },
);

test('an owner that is killed while it opens leaves nothing behind', async () => {
  const bench = makeTracked({ rules: [{ when: 'go', do: [{ say: 'hi' }] }], onSession: [{ wait: 700 }] });
  const owner = startOwner(bench);
  await waitUntil(systemClock, () => existsSync(join(bench.root, 'session', 'process.json')), 30_000);
  await kill(owner);
  const first = agentOf(bench);
  const opened = await takeOver(bench, owner);
  if (!opened.ok) throw new Error(opened.message);
  expect(opened.how).toBe('started');
  expect(isAlive(first)).toBe(false);
  await opened.conversation.start({ id: 'd1', text: 'go' });
  expect(await bench.event('turnEnded')).toMatchObject({ answer: 'hi' });
});

test('a question that waited while its owner was killed is answered by the next', async () => {
  const rules = [
    { when: 'go', do: [{ ask: 'Delete?', allowed: [{ say: 'gone' }], denied: [{ say: 'kept' }] }] },
  ];
  const bench = makeTracked(rules, { onQuestion: 'ask' });
  const owner = startOwner(bench, { id: 'd1', text: 'go' });
  await waitUntil(systemClock, () => owner.events.some((event) => event.type === 'waiting'), 30_000);
  await kill(owner);
  const opened = await takeOver(bench, owner);
  if (!opened.ok) throw new Error(opened.message);
  const asked = owner.events.find((event) => event.type === 'waiting');
  expect(bench.told()).toEqual([]);
  expect(await opened.conversation.answer(asked?.questionId ?? '', 'Deny')).toBe(true);
  await bench.event('turnEnded');
  expect(bench.told()).toEqual(['resumed', 'text: kept', 'ended succeeded: kept']);
});

test('what an agent did before it died unwatched is told before its conversation is resumed', async () => {
  const rules = [
    { when: 'more', do: [{ say: 'here' }] },
    {
      when: 'go',
      do: [
        { say: 'one ' },
        { wait: 200 },
        { say: 'two' },
        { later: [{ say: 'late' }, { exit: 4 }], afterMs: 50 },
      ],
    },
  ];
  const bench = makeTracked(rules);
  const owner = startOwner(bench, { id: 'd1', text: 'go' });
  await waitUntil(systemClock, () => owner.events.length > 0, 30_000);
  await kill(owner);
  const agent = agentOf(bench);
  await waitUntil(systemClock, () => identityOf(agent.pid) === undefined, 30_000);
  const opened = await takeOver(bench, owner);
  if (!opened.ok) throw new Error(opened.message);
  expect(opened.how).toBe('resumed');
  expect(told([...owner.events, ...bench.events]).filter((line) => !line.startsWith('text'))).toEqual([
    'started prompt:dd1',
    'ended succeeded: one two',
    'started late:',
    'ended succeeded: late',
    'exited: the process is gone',
  ]);
  expect(opened.conversation.nativeId).toBe(owner.facts.nativeId);
  expect(await opened.conversation.evidence('d1')).toMatchObject({ state: 'consumed' });
  await opened.conversation.start({ id: 'd2', text: 'more' });
  const positions = [...owner.events, ...bench.events].map(({ position }) => position);
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
  expect(await bench.event('turnEnded', (event) => event.nativeTurnId === 'prompt:d2')).toMatchObject({
    answer: 'here',
  });
});

test('an adopter knows whose turn a tool call is of', async () => {
  const tools = await startTestTools();
  try {
    const bench = makeTracked([
      {
        when: 'go',
        do: [
          { say: 'first' },
          { wait: 300 },
          { call: 'echo', with: { text: 'x' }, silent: true },
          { say: 'last' },
        ],
      },
    ]);
    const first = await bench.conversation({ tools });
    await first.start({ id: 'd1', text: 'go' });
    await bench.event('turnStarted');
    await first.detach();
    const position = bench.events.at(-1)?.position ?? 0;
    const second = await bench.conversation({ tools, position, nativeId: first.nativeId });
    const located: unknown[] = [];
    tools.onCall(async ({ meta }) => void located.push(await second.locate({ meta })));
    await bench.event('turnEnded');
    expect(located).toEqual([{ state: 'running', nativeTurnId: 'prompt:d1' }]);
    expect(bench.told()).toEqual([
      'started prompt:dd1',
      'text: first',
      'text: last',
      'ended succeeded: firstlast',
    ]);
  } finally {
    await tools.close();
  }
});
