import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { Feed } from './feed.ts';

let directory: string;
let hooksFile: string;
let noises: string[];
let feed: Feed;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-feed-'));
  hooksFile = join(directory, 'hooks.jsonl');
  noises = [];
  feed = new Feed({
    clock: systemClock,
    hooksFile,
    transcript: undefined,
    onHook: () => undefined,
    onSignal: () => undefined,
    onNoise: (what) => void noises.push(what),
  });
  feed.start();
});
afterEach(() => {
  feed.close();
  rmSync(directory, { recursive: true, force: true });
});

async function hook(transcript: string): Promise<string | undefined> {
  const told = { hook_event_name: 'UserPromptSubmit', transcript_path: transcript };
  appendFileSync(hooksFile, `${JSON.stringify(told)}\n\n`);
  await feed.drain();
  return feed.another;
}

it('tells once, and for good, that another conversation was begun at the screen', async () => {
  const [ours, another] = [join(directory, 'a.jsonl'), join(directory, 'b.jsonl')];
  expect(await hook(ours)).toBeUndefined();
  // The same file, by another way.
  expect(await hook(join(directory, 'linked', 'a.jsonl'))).toBeUndefined();
  expect(await hook(another)).toBe(another);
  expect(await hook(another)).toBe(another);
  expect(await hook(ours)).toBe(another);
  expect(noises).toEqual([expect.stringContaining(another)]);
});
