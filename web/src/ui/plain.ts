const payloads = /(?:\x1b[P^_X\]]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)/g;
const sequences = /(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)|\x1b[ -/]*[0-~]/g;
const bidiMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const controls = /[\p{Cc}\u2028\u2029\ufeff\u{e0000}-\u{e007f}]/gu;

/**
 * What an agent wrote, fit for one line: whatever would act instead of being read is gone (escape sequences, controls, marks that
 * reorder the words behind them, invisible tags). Cut where it is longer than `longest`, never inside a character.
 */
export function plainLine(text: string, longest = 300): string {
  const whole = strip(text.slice(0, longest * 4))
    .replace(controls, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return whole.length <= longest ? whole : `${whole.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The same for a text of many lines: line breaks and tabs stay. */
export function plainBlock(text: string): string {
  return strip(text)
    .replace(/\r\n?/g, '\n')
    .replace(controls, (char) => (char === '\n' || char === '\t' ? char : ''));
}

function strip(text: string): string {
  return text.replace(payloads, '').replace(sequences, '').replace(bidiMarks, '');
}
