import type picocolors from 'picocolors';
import { clip, columnsOf } from './text.ts';

/** What a piece of a line means; the colour is never the only sign of it. */
export type Tone = 'plain' | 'strong' | 'dim' | 'good' | 'bad' | 'warn' | 'live';

/** A piece of a line: text that is already safe for a terminal. */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

/** One line of output, before its colours and its cut to the width of the screen. */
export type Line = readonly Span[];

/** Shorthand for a span. */
export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** The paints of picocolors; each returns its text unchanged where colour is off. */
type Colors = ReturnType<typeof picocolors.createColors>;

/** How wide and how colourful a line may become. `columns` is infinite where nothing wraps. */
export interface LineStyle {
  readonly columns: number;
  readonly colors: Colors;
}

/** A line as text. Never wider than the style allows, so that it takes exactly one row of a screen. */
export function printLine(line: Line, style: LineStyle): string {
  let free = style.columns;
  let text = '';
  for (const piece of line) {
    if (free <= 0) break;
    const shown = clip(piece.text, free);
    free -= columnsOf(shown);
    text += paint(shown, piece.tone, style.colors);
    if (shown !== piece.text) break;
  }
  return text.trimEnd();
}

function paint(text: string, tone: Tone, colors: Colors): string {
  switch (tone) {
    case 'plain':
      return text;
    case 'strong':
      return colors.bold(text);
    case 'dim':
      return colors.dim(text);
    case 'good':
      return colors.green(text);
    case 'bad':
      return colors.red(text);
    case 'warn':
      return colors.yellow(text);
    case 'live':
      return colors.cyan(text);
  }
}
