import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { DriverEvent } from '../port.ts';
import { PiTracker } from './tracker.ts';
import { type Line, readLine } from './wire.ts';

const corpus = join(import.meta.dirname, '../../../test/corpus/pi/0.74.2');
const text = z.object({
  text: z.object({ id: z.string(), kind: z.enum(['prompt', 'steer']), at: z.number(), hash: z.string() }),
});
const line = z.object({ line: z.string(), end: z.number() });

interface Scene {
  readonly texts: readonly z.infer<typeof text>['text'][];
  readonly lines: readonly { readonly line: Line; readonly end: number }[];
}

function read(name: string): Scene {
  const rows = readFileSync(join(corpus, name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((row) => JSON.parse(row) as unknown);
  return {
    texts: rows.flatMap((row) => text.safeParse(row).data?.text ?? []),
    lines: rows.flatMap((row) => {
      const output = line.safeParse(row).data;
      return output ? [{ line: readLine(output.line), end: output.end }] : [];
    }),
  };
}

/** The events of the first `count` lines, as told to somebody who knows everything up to `floor`. */
function eventsOf({ texts, lines }: Scene, count = lines.length, floor = 0): DriverEvent[] {
  const events: DriverEvent[] = [];
  const nothing = (): void => undefined;
  const tracker = new PiTracker(
    {
      emit: (event) => void events.push(event),
      onMayBeIdle: nothing,
      onLeftover: nothing,
      onStalled: nothing,
      onStuck: nothing,
      onAccepted: nothing,
      onQuestion: nothing,
      onTurnEnded: nothing,
      onResponse: nothing,
    },
    { from: 0, floor },
  );
  for (const sent of texts) tracker.texts.add(sent);
  for (const { line: said, end } of lines.slice(0, count)) tracker.take(said, end);
  return events;
}

const names = readdirSync(corpus);

/** What the second turn of each scene was, without what was said in it. */
const expected: Readonly<Record<string, readonly string[]>> = {
  'simple.jsonl': ['turnStarted', 'succeeded'],
  'tool.jsonl': ['turnStarted', 'succeeded'],
  'steer-in-tool.jsonl': ['turnStarted', 'taken', 'succeeded'],
  'interrupted-tool.jsonl': ['turnStarted', 'interrupted'],
  'interrupted-steer.jsonl': ['turnStarted', 'interrupted'],
  'usage-limit.jsonl': ['turnStarted', 'waiting', 'resumed', 'waiting', 'resumed', 'failed capacity'],
  'server-error.jsonl': ['turnStarted', 'failed agent'],
  'sign-in.jsonl': ['turnStarted', 'failed login'],
  'cut.jsonl': ['turnStarted', 'failed agent'],
};

function brief(event: DriverEvent): string[] {
  if (event.type === 'item') return [];
  if (event.type !== 'turnEnded') return [event.type];
  return [event.error ? `${event.status} ${event.error.kind}` : event.status];
}

describe('what the real pi wrote', () => {
  it.each(names)('%s is told as it was', (name) => {
    const told = eventsOf(read(name)).flatMap(brief);
    expect(told).toEqual(['turnStarted', 'succeeded', ...(expected[name] ?? ['no such scene'])]);
  });

  it.each(names)('%s is told whole and once, wherever its reader dies', (name) => {
    const scene = read(name);
    const whole = eventsOf(scene);
    for (let cut = 0; cut <= scene.lines.length; cut++) {
      const before = eventsOf(scene, cut);
      // Also when it dies between two events of one line.
      for (const known of [before.length, before.length - 1]) {
        const told = before.slice(0, Math.max(known, 0));
        const after = eventsOf(scene, scene.lines.length, told.at(-1)?.position ?? 0);
        expect([...told, ...after]).toEqual(whole);
      }
    }
  });

  it('has every scene', () => {
    expect(names.sort()).toEqual(Object.keys(expected).sort());
  });
});
