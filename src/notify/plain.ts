import { stripVTControlCharacters } from 'node:util';

// Zero-width characters, directions and invisible fillers: what is read must be what is there.
const invisible =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]/gu;

/** Anybody's text as one line that is safe wherever it is shown, at most `longest` UTF-16 units. */
export function plainLine(text: string, longest: number): string {
  const clean = stripVTControlCharacters(wellFormed(text)).replace(invisible, ' ');
  return cut(clean.replace(/\s+/gu, ' ').trim(), longest);
}

/** As `plainLine`, but line breaks stay, two in a row at most. */
export function plainBlock(text: string, longest: number): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const clean = lines.map((line) => plainLine(line, longest)).join('\n');
  return cut(clean.replace(/\n{3,}/g, '\n\n').trim(), longest);
}

/** Cuts a text, never inside a character; `…` shows that something is missing. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, Math.max(0, longest - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Halves of characters become marks of what is missing. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
