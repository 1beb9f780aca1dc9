/**
 * What an agent wrote, made safe for a terminal and fit for one line.
 *
 * Names, results and errors come from agents and from whatever they read; a terminal would obey the escape sequences
 * in them (move the cursor, change the title, write to the clipboard) and show reordered text for bidi controls.
 * Escapes go as a whole, other controls become a space, runs of white space become one.
 */
export function plainLine(text: string): string {
  return withoutControls(text).replace(/\s+/gu, ' ').trim();
}

/** As `plainLine`, but keeps line breaks: for answers that are printed in full. Tabs become two spaces. */
export function plainBlock(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').replaceAll('\t', '  ').split('\n');
  return lines.map((line) => withoutControls(line).trimEnd()).join('\n');
}

/** How many terminal columns a text takes, assuming `plainLine` went over it: wide characters and emoji take two. */
export function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const segment of graphemesOf(text)) columns += columnsOfGrapheme(segment);
  return columns;
}

/** Cuts a text to a number of columns, never inside a character; `…` shows that something is missing. */
export function clip(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (columnsOf(text) <= columns) return text;
  let kept = '';
  let used = 0;
  for (const segment of graphemesOf(text)) {
    const wide = columnsOfGrapheme(segment);
    if (used + wide > columns - 1) break;
    kept += segment;
    used += wide;
  }
  return `${kept.trimEnd()}…`;
}

/**
 * A text that `plainLine` or `plainBlock` went over, in lines that are no wider than `columns`: broken between words, and
 * inside one only where it is wider than a line. Line breaks stay; infinity breaks nothing.
 */
export function wrap(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(columns, 2)));
}

function wrapLine(line: string, columns: number): string[] {
  if (columnsOf(line) <= columns) return [line];
  const lines: string[] = [];
  let rest = '';
  for (const word of line.split(' ')) {
    const longer = rest === '' ? word : `${rest} ${word}`;
    if (columnsOf(longer) <= columns) {
      rest = longer;
      continue;
    }
    if (rest.trim() !== '') lines.push(rest);
    const parts = split(word, columns);
    lines.push(...parts.slice(0, -1));
    rest = parts.at(-1) ?? '';
  }
  return rest === '' ? lines : [...lines, rest];
}

function split(word: string, columns: number): string[] {
  const parts: string[] = [];
  let part = '';
  let used = 0;
  for (const segment of graphemesOf(word)) {
    const wide = columnsOfGrapheme(segment);
    if (used + wide > columns) {
      parts.push(part);
      [part, used] = ['', 0];
    }
    part += segment;
    used += wide;
  }
  return [...parts, part];
}

/** Fills a text with spaces up to a number of columns. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** So much is looked at at once: a segmenter copies its whole text for each segment. No character is as long. */
const pieceChars = 2_048;

function* graphemesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const segments = [...graphemes.segment(text.slice(at, at + pieceChars))];
    // The last one may go on behind the piece.
    const isEnd = at + pieceChars >= text.length;
    const whole = isEnd || segments.length === 1 ? segments : segments.slice(0, -1);
    for (const { segment } of whole) {
      yield segment;
      at += segment.length;
    }
  }
}

// Device control, privacy message, application and start-of-string sequences carry a payload up to their terminator.
// oxlint-disable-next-line no-control-regex -- controls are what this is about
const payloadSequences = /(?:\x1b[P^_X]|[\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)/g;
// oxlint-disable-next-line no-control-regex -- as above
const operatingSystemCommands = /(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)/g;
// oxlint-disable-next-line no-control-regex -- as above
const otherSequences = /(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)|\x1b[ -/]*[0-~]/g;
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const otherControls = /[\p{Cc}\u2028\u2029\ufeff\u{e0000}-\u{e007f}]/gu;

function withoutControls(text: string): string {
  const visible = text.replace(payloadSequences, '').replace(operatingSystemCommands, '');
  return visible.replace(otherSequences, '').replace(bidiControls, '').replace(otherControls, ' ');
}

function columnsOfGrapheme(grapheme: string): number {
  if (grapheme.length === 1 && grapheme < '\x7f') return 1;
  if (/^\p{Mark}+$/u.test(grapheme)) return 0;
  if (/\p{Emoji_Presentation}|\ufe0f/u.test(grapheme)) return 2;
  return isWide(grapheme.codePointAt(0) ?? 0) ? 2 : 1;
}

// The blocks of Unicode's East Asian Width that are wide as a whole; enough for a column count, not for typesetting.
const wideBlocks: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
];

function isWide(codePoint: number): boolean {
  return wideBlocks.some(([first, last]) => codePoint >= first && codePoint <= last);
}
