import type { Step } from './step.ts';

/**
 * The small language in which a prompt tells the scripted model what to do. Directives run in order, one for each
 * model request of the turn:
 *
 *   [[say TEXT]]             answers TEXT
 *   [[slow S TEXT?]]         answers word by word over S seconds
 *   [[hold S TEXT?]]         answers at once, and keeps the response open for S seconds
 *   [[tool NAME {json}]]     calls a tool
 *   [[shell CMD]]            runs a command and waits for it
 *   [[background CMD]]       starts a command and leaves it running
 *   [[escalate CMD]]         runs a command outside the sandbox, which makes the agent ask for permission
 *   [[fail CODE S? resets=N?]]  HTTP error CODE, after S seconds; N seconds until the limit resets
 *   [[hang S]]               silent for S seconds
 *   [[drop S]]               streams for S seconds, then cuts the connection
 *
 * Directives nest: the prompt of a child, inside the JSON of a tool call, may carry its own.
 */
export function parseSteps(text: string): Step[] {
  return findDirectives(text).map(readDirective);
}

/** Whether a text tells the model what to do. */
export function hasDirectives(text: string): boolean {
  return findDirectives(text).length > 0;
}

const words = [
  'say',
  'slow',
  'hold',
  'tool',
  'shell',
  'background',
  'escalate',
  'fail',
  'hang',
  'drop',
] as const;
type Word = (typeof words)[number];
interface Directive {
  readonly word: Word;
  readonly rest: string;
}

const opening = new RegExp(`\\[\\[(${words.join('|')})(?=[\\s\\]])`, 'g');

function findDirectives(text: string): Directive[] {
  const found: Directive[] = [];
  const search = new RegExp(opening);
  for (let match = search.exec(text); match; match = search.exec(text)) {
    const word = match[1] as Word;
    const start = search.lastIndex;
    const end = word === 'tool' ? endOfTool(text, start) : endOfBrackets(text, start);
    if (end < 0) break;
    found.push({ word, rest: text.slice(start, end).trim() });
    search.lastIndex = end + 2;
  }
  return found;
}

function endOfBrackets(text: string, start: number): number {
  let depth = 1;
  for (let i = start; i < text.length - 1; i++) {
    const pair = text.slice(i, i + 2);
    if (pair === '[[') depth++;
    if (pair === ']]') depth--;
    if (depth === 0) return i;
    if (pair === '[[' || pair === ']]') i++;
  }
  return -1;
}

// The arguments of a tool are JSON, in which `]]` may be the end of nested lists or stand inside a string.
function endOfTool(text: string, start: number): number {
  const brace = text.indexOf('{', start);
  const plainEnd = text.indexOf(']]', start);
  if (brace < 0 || (plainEnd >= 0 && plainEnd < brace)) return plainEnd;
  return text.indexOf(']]', endOfObject(text, brace));
}

function endOfObject(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const c = text[i];
    if (inString) {
      if (c === '\\') i++;
      else if (c === '"') inString = false;
    } else if (c === '"') inString = true;
    else if (c === '{') depth++;
    else if (c === '}' && --depth === 0) return i;
  }
  return text.length;
}

function readDirective({ word, rest }: Directive): Step {
  switch (word) {
    case 'say':
      return { do: 'say', text: rest };
    case 'slow':
      return { do: 'say', ...timed(rest, 'overMs') };
    case 'hold':
      return { do: 'say', ...timed(rest, 'holdMs') };
    case 'tool':
      return readTool(rest);
    case 'shell':
      return { do: 'shell', command: rest, how: 'wait' };
    case 'background':
      return { do: 'shell', command: rest, how: 'background' };
    case 'escalate':
      return { do: 'shell', command: rest, how: 'escalate' };
    case 'fail':
      return readFailure(rest);
    case 'hang':
      return { do: 'hang', ms: milliseconds(rest) };
    case 'drop':
      return { do: 'drop', afterMs: milliseconds(rest) };
  }
}

function timed<Key extends 'overMs' | 'holdMs'>(
  rest: string,
  key: Key,
): { text: string } & Record<Key, number> {
  const [, seconds = '1', said = ''] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  const text = said === '' ? 'A long answer of many words that takes its time.' : said;
  return { text, [key]: milliseconds(seconds) } as { text: string } & Record<Key, number>;
}

function readTool(rest: string): Step {
  const [, tool = '', json = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
  const args: unknown = json === '' ? {} : JSON.parse(json);
  return { do: 'call', tool, args: args as Record<string, unknown> };
}

function readFailure(rest: string): Step {
  const resets = /resets=(\d+)/.exec(rest)?.[1];
  const [status = '500', after] = rest
    .replace(/resets=\d+/, '')
    .trim()
    .split(/\s+/);
  return {
    do: 'fail',
    status: Number(status),
    ...(after ? { afterMs: milliseconds(after) } : {}),
    ...(resets ? { resetsInSeconds: Number(resets) } : {}),
  };
}

function milliseconds(seconds: string): number {
  const value = Number(seconds);
  return Number.isFinite(value) ? value * 1000 : 1000;
}
