import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRecordedScreen, replay, screensDirectory } from '../../test/corpus/recorded-screen.ts';
import { ScreenModel } from './screen-model.ts';

const recordings = readdirSync(screensDirectory, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.json'));

describe('recorded screens, drawn again', () => {
  it('are of each agent that has one', () => {
    const agents = new Set(recordings.map((name) => name.split('/')[0]));
    expect([...agents].sort()).toEqual(['claude', 'codex', 'opencode']);
  });

  it.each(recordings)('%s: each shows what tmux showed, in whatever pieces it is told', async (name) => {
    const recorded = readRecordedScreen(name);
    for (const chunkLength of [100_000, 61]) {
      const seen = await replay(recorded, chunkLength);
      for (const [step, { screen, shows }] of recorded.steps.entries()) {
        const texts = seen[step]?.lines.map(({ text }) => text);
        expect(texts, screen).toEqual(Array.from({ length: recorded.rows }, (_, row) => shows[row] ?? ''));
      }
    }
  });
});

it('of a line, what is drawn dim is told, character by character', async () => {
  const model = new ScreenModel({ columns: 40, rows: 2 });
  await model.write('\u001b[2mdim é漢\u001b[22m lit \u001b[2mdim');
  expect(model.lines()).toEqual([
    { text: 'dim é漢 lit dim', lit: '       lit    ' },
    { text: '', lit: '' },
  ]);
  model.end();
});

it('keeps one screen and no history', async () => {
  const model = new ScreenModel({ columns: 10, rows: 2 });
  await model.write('1\r\n2\r\n3\r\n4');
  expect(model.lines().map(({ text }) => text)).toEqual(['3', '4']);
  model.resize({ columns: 10, rows: 4 });
  await model.write('');
  expect(model.lines().map(({ text }) => text)).not.toContain('2');
  model.end();
});
