import type { Json } from '../base/json.ts';
import type { OutputPlan } from '../ledger/planned-message.ts';
import type { FoundFile, LeftBehind, OutputValues } from '../runs/step-ports.ts';
import { findBelow, readBelow } from './below.ts';
import { mistakesIn } from './schema.ts';

/** The largest file of JSON, in bytes, and what all values together may be, in UTF-16 units of JSON. */
const largestJson = 1_000_000;
const longestValues = 1_000_000;
/** How much the command of an output may print, in bytes: less than is kept of it. */
const mostPrinted = 1_000_000;

/** Looks at every output, so that all that is wrong is told at once. Never rejects. */
export async function outputValues(left: LeftBehind): Promise<OutputValues> {
  const values: Record<string, Json> = {};
  const files: [string, FoundFile][] = [];
  const mistakes: string[] = [];
  for (const [name, plan] of Object.entries(left.outputs)) {
    const found = await valueOf(plan, left, left.printed[name]);
    if ('mistakes' in found) mistakes.push(...found.mistakes.map((mistake) => `${name}: ${mistake}`));
    else if ('file' in found) files.push([name, found.file]);
    else values[name] = found.value;
  }
  if (mistakes.length > 0) return { ok: false, mistakes };
  // A copy is never made again: what is refused, and mended, must not have left one. The paths of copies are short, and not counted.
  const length = JSON.stringify(values).length;
  if (length <= longestValues) {
    for (const [name, file] of files) values[name] = await left.keep(name, file);
    return { ok: true, values };
  }
  const mistake = `All outputs together have ${length} characters of JSON, and at most ${longestValues} are kept: leave a file behind instead.`;
  return { ok: false, mistakes: [mistake] };
}

type Found = { readonly value: Json } | { readonly mistakes: readonly string[] };

async function valueOf(
  plan: OutputPlan,
  left: LeftBehind,
  printed: LeftBehind['printed'][string] | undefined,
): Promise<Found | { readonly file: FoundFile }> {
  switch (plan.from) {
    case 'file': {
      const found = await findBelow(left.cwd, plan.path);
      return found.ok ? { file: found.value } : no(`the file ${plan.path} ${found.why}`);
    }
    case 'json': {
      const read = await readBelow(left.cwd, plan.path, largestJson);
      if (!read.ok) return no(`the file ${plan.path} ${read.why}`);
      return fitting(readJson(read.value, plan.path), plan.schema, `${plan.path} `);
    }
    case 'answer': {
      const answer = left.answer ?? '';
      if (plan.schema === null) return answer.trim() === '' ? no('the answer is empty') : { value: answer };
      return fitting(jsonOfAnswer(answer), plan.schema, 'the answer ');
    }
    case 'command': {
      const { isYes, text } = printed ?? { isYes: false, text: 'it was not run' };
      if (!isYes) return no(text);
      // Of more only the beginning and the end were kept, so how much it was is not known here.
      return Buffer.byteLength(text) > mostPrinted
        ? no(`${plan.command} prints more than ${mostPrinted} bytes; let it write a file, and name that`)
        : { value: text.replace(/\r?\n$/, '') };
    }
  }
}

function fitting(read: Found, schema: Json | null, where: string): Found {
  if (!('value' in read) || schema === null) return read;
  const mistakes = mistakesIn(read.value, schema);
  return mistakes.length === 0 ? read : { mistakes: mistakes.map((mistake) => `${where}${mistake}`) };
}

/** A whole answer, or the last block of code in it: agents like to say a word before. */
function jsonOfAnswer(answer: string): Found {
  return readJson(lastBlock(answer) ?? answer, 'the answer');
}

function lastBlock(answer: string): string | undefined {
  const lines = answer.split(/\r?\n/);
  let last: string | undefined;
  let begin: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (begin !== undefined && line.trim() === '```') {
      last = lines.slice(begin, index).join('\n');
      begin = undefined;
    } else if (begin === undefined && /^\s*```(?:json)?\s*$/.test(line)) begin = index + 1;
  }
  return last;
}

/** What a text says in JSON, or where it is none. */
export function readJson(text: string, what: string): Found {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (json.trim() === '') return no(`${what} is empty, and JSON is expected`);
  try {
    const value = JSON.parse(json) as Json;
    return isTooDeep(value) ? no(`${what} is nested more than ${deepest} deep`) : { value };
  } catch (thrown) {
    return no(`${what} is no JSON: ${placeIn(json, (thrown as Error).message)}`);
  }
}

/** Deeper values would take the stack of whoever writes them down again. */
const deepest = 500;

function isTooDeep(value: Json): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true;
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? Object.values(part) : []));
  }
  return false;
}

/** The message of the parser with a line and a column, which count from 1, where it only tells an offset. */
function placeIn(text: string, message: string): string {
  const offset = /at position (\d+)$/.exec(message)?.[1];
  if (offset === undefined) return message;
  const before = text.slice(0, Number(offset)).split('\n');
  return message.replace(
    /at position \d+$/,
    `at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`,
  );
}

function no(mistake: string): { mistakes: readonly string[] } {
  return { mistakes: [mistake] };
}
