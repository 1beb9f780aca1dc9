import type picocolors from 'picocolors';
import type { Line, Tone } from '../words/line.ts';
import { clip, columnsOf } from '../words/text.ts';

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
