import type { Json } from '../base/json.ts';
import type { OutputPlan } from '../ledger/planned-message.ts';
import type { LeftBehind, OutputValues } from '../runs/step-ports.ts';
import { findBelow, readBelow } from './below.ts';
import { mistakesIn } from './schema.ts';

/** The largest file of JSON, in bytes, and what all values together may be, in UTF-16 units of JSON. */
const largestJson = 1_000_000;
const longestValues = 1_000_000;

/** Looks at every output, so that all that is wrong is told at once. Never rejects. */
export async function outputValues(left: LeftBehind): Promise<OutputValues> {
  const values: Record<string, Json> = {};
  const mistakes: string[] = [];
  for (const [name, plan] of Object.entries(left.outputs)) {
    const found = await valueOf(name, plan, left);
    if ('value' in found) values[name] = found.value;
    else mistakes.push(...found.mistakes.map((mistake) => `${name}: ${mistake}`));
  }
  if (mistakes.length > 0) return { ok: false, mistakes };
  const length = JSON.stringify(values).length;
  if (length <= longestValues) return { ok: true, values };
  const mistake = `All outputs together have ${length} characters of JSON, and at most ${longestValues} are kept: leave a file behind instead.`;
  return { ok: false, mistakes: [mistake] };
}

type Found = { readonly value: Json } | { readonly mistakes: readonly string[] };

async function valueOf(name: string, plan: OutputPlan, left: LeftBehind): Promise<Found> {
  switch (plan.from) {
    case 'file': {
      const found = await findBelow(left.cwd, plan.path);
      return found.ok
        ? { value: await left.keep(name, found.value) }
        : no(`the file ${plan.path} ${found.why}`);
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
      const { isYes, text } = left.printed[name] ?? { isYes: false, text: 'it was not run' };
      return isYes ? { value: text.replace(/\r?\n$/, '') } : no(text);
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
  const blocks = [...answer.matchAll(/```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*```/g)];
  const text = blocks.at(-1)?.[1] ?? answer;
  return readJson(text, 'the answer');
}

/** What a text says in JSON, or where it is none. */
export function readJson(text: string, what: string): Found {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (json.trim() === '') return no(`${what} is empty, and JSON is expected`);
  try {
    return { value: JSON.parse(json) as Json };
  } catch (thrown) {
    return no(`${what} is no JSON: ${placeIn(json, (thrown as Error).message)}`);
  }
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
