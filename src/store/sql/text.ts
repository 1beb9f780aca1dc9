/**
 * Text as SQLite keeps it. Agents' output contains NUL, and libsql cuts a text at NUL when it reads it back, so NUL is
 * escaped on the way in and restored on the way out, with DLE (U+0010) as the escape character.
 */
const nul = '\u0000';
const dle = '\u0010';

/** Replaces NUL by DLE 0 and DLE by DLE 1. Text without either, nearly all, is returned as it is. */
export function escapeText(text: string): string {
  if (!text.includes(nul) && !text.includes(dle)) return text;
  return text.replaceAll(dle, `${dle}1`).replaceAll(nul, `${dle}0`);
}

/** The inverse of `escapeText`. */
export function unescapeText(text: string): string {
  if (!text.includes(dle)) return text;
  return text.replaceAll(`${dle}0`, nul).replaceAll(`${dle}1`, dle);
}

/** Parses JSON that SQLite made of stored texts, and restores each of them. */
export function parseDocument(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  return text.includes('\\u0010') ? restore(parsed) : parsed;
}

function restore(value: unknown): unknown {
  if (typeof value === 'string') return unescapeText(value);
  if (Array.isArray(value)) return value.map(restore);
  return value;
}
