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
