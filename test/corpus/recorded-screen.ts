import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ScreenLine, ScreenModel } from '../../src/terminal/screen-model.ts';

/** What a program wrote at its screen, step by step, and what tmux said that the screen showed after each. */
export interface RecordedScreen {
  readonly columns: number;
  readonly rows: number;
  readonly steps: readonly {
    readonly bytes: string;
    /** A name for what is seen there. */
    readonly screen: string;
    readonly shows: readonly string[];
  }[];
}

/** The directory of the recorded screens. */
export const screensDirectory = fileURLToPath(new URL('./screens/', import.meta.url));

/** Reads a recording. `path`: below `test/corpus/screens`. */
export function readRecordedScreen(path: string): RecordedScreen {
  return JSON.parse(readFileSync(`${screensDirectory}${path}`, 'utf8')) as RecordedScreen;
}

/** Draws a recording again and answers what is seen after each step. `chunkLength`: in how small pieces it is told. */
export async function replay(
  { steps, ...size }: RecordedScreen,
  chunkLength = 4096,
): Promise<{ readonly screen: string; readonly lines: readonly ScreenLine[] }[]> {
  const model = new ScreenModel(size);
  const seen = [];
  for (const { bytes, screen } of steps) {
    const whole = Buffer.from(bytes);
    for (let at = 0; at < whole.length; at += chunkLength)
      void model.write(whole.subarray(at, at + chunkLength));
    await model.write('');
    seen.push({ screen, lines: model.lines() });
  }
  model.end();
  return seen;
}
