import { createHash } from 'node:crypto';
import { StemmaError } from '../base/errors.ts';

/** How large a body may be if nothing else is said, in bytes. */
export const defaultBodyLimitBytes = 1_048_576;

/** Deeper JSON is refused: what walks it later, walks it recursively. */
const deepestJson = 64;

/**
 * Reads a body as text, counting what really arrives: a chunked body announces no length. Throws `BODY_TOO_LARGE` as
 * soon as the limit is passed, and `MALFORMED_JSON` for bytes that are no UTF-8.
 */
export async function readBody(request: Request, limitBytes: number): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > limitBytes) throw tooLarge(limitBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limitBytes) throw tooLarge(limitBytes);
    chunks.push(chunk);
  }
  return decode(Buffer.concat(chunks, size));
}

/** Parses a body; an empty one is `{}`. Throws `MALFORMED_JSON`, or `INVALID_INPUT` when it is nested too deeply. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return {};
  checkDepth(text);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : 'unreadable';
    throw new StemmaError('MALFORMED_JSON', `The body is not JSON: ${why}. Send one JSON object.`);
  }
}

/** SHA-256 of a JSON value whatever the order of its keys, in hex: the same request, written otherwise, is the same. */
export function hashJson(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sortKeys(value)))
    .digest('hex');
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new StemmaError('MALFORMED_JSON', 'The body is not UTF-8. Send JSON in UTF-8.');
  }
}

function tooLarge(limitBytes: number): StemmaError {
  return new StemmaError('BODY_TOO_LARGE', `The body is larger than ${limitBytes} bytes. Send less.`, {
    limitBytes,
  });
}

// Counts brackets outside strings; what is not JSON at all is left to the parser.
function checkDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    if (depth > deepestJson) {
      const message = `The body is nested deeper than ${deepestJson} levels. Send it flatter.`;
      throw new StemmaError('INVALID_INPUT', message, { issues: [{ path: '', message }] });
    }
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, sortKeys(item)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
