import { clip } from '../words/text.ts';

const longestExcerpt = 100;

/** The line of a text with a caret below the place: line and column count from 1. */
export function excerptOf(text: string, line: number, column: number): string {
  const raw = text.split('\n')[line - 1] ?? '';
  // Tabs and controls become one column each, so that the caret stays below its character.
  const shown = raw.replace(/[\p{Cc}]/gu, ' ');
  const gutter = `  ${line} | `;
  const caret = `${' '.repeat(gutter.length - 2)}| ${' '.repeat(Math.min(column - 1, longestExcerpt - 1))}^`;
  return `${gutter}${clip(shown, longestExcerpt)}\n${caret}`;
}
