import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { Feed } from './feed.ts';

let directory: string;
let hooksFile: string;
let noises: string[];
let heard: [string, number][];
let followed: { readonly id: string; readonly base: number }[];
let leaving: Promise<void>;
let isDiskFull: boolean;
let feed: Feed;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-feed-'));
  hooksFile = join(directory, 'hooks.jsonl');
  noises = [];
  heard = [];
  followed = [];
  leaving = Promise.resolve();
  isDiskFull = false;
  feed = new Feed({
    clock: systemClock,
    hooksFile,
    earlier: [],
    transcript: undefined,
    onHook: () => undefined,
    onSignal: (signal, position) => void heard.push([signal.type === 'queued' ? signal.text : '', position]),
    onLeave: () => leaving,
    onNext: ({ id, base }) => {
      if (isDiskFull) throw new Error('the disk is full');
      followed.push({ id, base });
    },
    onNoise: (what) => void noises.push(what),
  });
  feed.start();
});
afterEach(() => {
  feed.close();
  rmSync(directory, { recursive: true, force: true });
});

const fileOf = (id: string): string => join(directory, `${id}.jsonl`);

async function hook(id: string, told: object = { hook_event_name: 'UserPromptSubmit' }): Promise<void> {
  appendFileSync(
    hooksFile,
    `${JSON.stringify({ ...told, session_id: id, transcript_path: fileOf(id) })}\n\n`,
  );
  await feed.drain();
}
const starts = (source: string): object => ({ hook_event_name: 'SessionStart', source });

/** Each line is this long. */
const lineLength = 100;
function say(id: string, content: string): void {
  const line = JSON.stringify({ type: 'queue-operation', operation: 'enqueue', content });
  appendFileSync(fileOf(id), `${line.padEnd(lineLength - 1)}\n`);
}

it('follows to the conversation that /clear begins, and counts positions on', async () => {
  say('a', 'one');
  await hook('a', starts('startup'));
  let hasLeft = (): void => undefined;
  leaving = new Promise((resolve) => {
    hasLeft = resolve;
  });
  say('b', 'three');
  const cleared = hook('b', starts('clear'));
  say('a', 'two');
  hasLeft();
  await cleared;
  await hook('b');
  say('b', 'four');
  await hook('a', { hook_event_name: 'Stop' });
  await hook('c', starts('clear'));
  say('c', 'five');
  await feed.drain();
  expect(heard).toEqual([
    ['one', 100],
    ['two', 200],
    ['three', 300],
    ['four', 400],
    ['five', 500],
  ]);
  expect(followed).toEqual([
    { id: 'b', base: 200 },
    { id: 'c', base: 400 },
  ]);
  expect([feed.another, noises]).toEqual([undefined, []]);
});

it('does not follow where it cannot write that down', async () => {
  await hook('a', starts('startup'));
  isDiskFull = true;
  await hook('b', starts('clear'));
  say('b', 'lost');
  await feed.drain();
  expect([feed.another, heard]).toEqual([fileOf('b'), []]);
});

it.each([
  ['another one is resumed', 'b', starts('resume')],
  ['the one before is resumed', 'a', starts('resume')],
  ['nothing said that it began', 'c', { hook_event_name: 'UserPromptSubmit' }],
])('tells once, and for good, that a conversation cannot be followed: %s', async (_, id, told) => {
  await hook('a', starts('startup'));
  await hook('x', starts('clear'));
  await hook(id, told);
  await hook(id, told);
  await hook('x');
  await hook('y', starts('clear'));
  expect(feed.another).toBe(fileOf(id));
  expect(noises).toEqual([expect.stringContaining(fileOf(id))]);
  expect(followed.map((each) => each.id)).toEqual(['x']);
});
