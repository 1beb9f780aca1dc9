import type { Json } from '../base/json.ts';
import { placeOf, type TemplateIssue } from '../schedules/templates.ts';
import { readReference, type Reference } from './reference.ts';

/** A condition, taken apart. */
export type Condition =
  | { readonly is: 'or' | 'and'; readonly items: readonly Condition[] }
  | { readonly is: 'not'; readonly item: Condition }
  | Comparison
  | { readonly is: 'alone'; readonly operand: Operand };

/** One thing compared with another, or with each of several. */
export interface Comparison {
  readonly is: 'compare';
  readonly how: '==' | '!=' | 'in';
  readonly left: Operand;
  readonly right: readonly Operand[];
}

/** What is compared. */
export type Operand = Reference | { readonly is: 'literal'; readonly value: Json };

/** A condition taken apart, or what is wrong with it. */
export type ParsedCondition =
  | { readonly ok: true; readonly condition: Condition }
  | { readonly ok: false; readonly issues: readonly TemplateIssue[] };

/** Longer conditions belong into a script. In UTF-16 units. */
const longestCondition = 10_000;
const deepest = 50;

/**
 * Takes a condition apart: `A == B`, `A != B`, `A in [B, C]`, `not`, `and`, `or`, parentheses; operands are templates, texts in quotes,
 * numbers, true, false and null. Only what was written is read: what templates stand for comes later. Never throws.
 */
export function parseCondition(text: string): ParsedCondition {
  if (text.length > longestCondition)
    return no(text, 0, `a condition of more than ${longestCondition} characters belongs into a script.`);
  const tokens: Token[] = [];
  const token =
    /\s*(\{\{[^]*?\}\}|==|!=|[()[\],]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s()[\],=!"'{}]+)|\s+$/suy;
  while (token.lastIndex < text.length) {
    const from = token.lastIndex;
    const found = token.exec(text);
    const at = from + (/\s*/.exec(text.slice(from))?.[0].length ?? 0);
    if (!found) return no(text, at, mistakeAt(text.slice(at)));
    if (found[1] !== undefined) tokens.push({ text: found[1], at });
  }
  return new Reader(text, tokens).whole();
}

interface Token {
  readonly text: string;
  readonly at: number;
}

function mistakeAt(rest: string): string {
  if (rest.startsWith('{{')) return '"{{" has no "}}".';
  if (/^["']/.test(rest)) return 'this quote has no end.';
  if (rest.startsWith('=')) return 'write "==" to compare.';
  return `"${rest.slice(0, 20)}" cannot be read here; ${forms}`;
}

const forms =
  'a condition compares, as in {{inputs.mode}} == "full", with ==, != or in [..]; and, or, not and parentheses join.';

class Mistake extends Error {
  readonly at: number;
  readonly nearest: string | undefined;

  constructor(at: number, message: string, nearest?: string) {
    super(message);
    this.at = at;
    this.nearest = nearest;
  }
}

/** A parser by recursive descent: `or` binds weakest, then `and`, then `not`. */
class Reader {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  whole(): ParsedCondition {
    try {
      const condition = this.#any();
      const more = this.#tokens[this.#next];
      if (more) throw new Mistake(more.at, `"${more.text.slice(0, 40)}" is one word too many; ${forms}`);
      return { ok: true, condition };
    } catch (thrown) {
      if (!(thrown instanceof Mistake)) throw thrown;
      return no(this.#text, thrown.at, thrown.message, thrown.nearest);
    }
  }

  #any(): Condition {
    return this.#joined('or', () => this.#joined('and', () => this.#one()));
  }

  #joined(word: 'or' | 'and', read: () => Condition): Condition {
    const first = read();
    const items = [first];
    while (this.#takes(word)) items.push(read());
    return items.length === 1 ? first : { is: word, items };
  }

  #one(): Condition {
    this.#depth += 1;
    if (this.#depth > deepest) throw this.#mistake('this is nested too deeply.');
    const condition = this.#negated() ?? this.#grouped() ?? this.#comparison();
    this.#depth -= 1;
    return condition;
  }

  #negated(): Condition | undefined {
    return this.#takes('not') ? { is: 'not', item: this.#one() } : undefined;
  }

  #grouped(): Condition | undefined {
    if (!this.#takes('(')) return undefined;
    const condition = this.#any();
    if (!this.#takes(')')) throw this.#mistake('a ")" is missing here.');
    return condition;
  }

  #comparison(): Condition {
    const left = this.#operand();
    for (const how of ['==', '!='] as const)
      if (this.#takes(how)) return { is: 'compare', how, left, right: [this.#operand()] };
    if (this.#takes('in')) return { is: 'compare', how: 'in', left, right: this.#list() };
    if (!this.#takes('not')) return { is: 'alone', operand: left };
    if (!this.#takes('in')) throw this.#mistake('"not" stands before a comparison, or before "in".');
    return { is: 'not', item: { is: 'compare', how: 'in', left, right: this.#list() } };
  }

  #list(): Operand[] {
    if (!this.#takes('[')) {
      const only = this.#operand();
      if (only.is === 'reference') return [only];
      throw this.#mistake('behind "in" there is a list, as in [1, 2], or a template that stands for one.');
    }
    const items: Operand[] = [];
    while (!this.#takes(']')) {
      if (items.length > 0 && !this.#takes(',')) throw this.#mistake('a "," or "]" is missing here.');
      items.push(this.#operand());
    }
    return items;
  }

  #operand(): Operand {
    const token = this.#tokens[this.#next];
    if (!token) throw this.#mistake('something to compare is missing at the end.');
    this.#next += 1;
    const { text, at } = token;
    if (text.startsWith('{{')) return referenceAt(text, at);
    if (/^["']/.test(text)) return literal(textAt(text, at));
    if (/^-?\d+(?:\.\d+)?$/.test(text)) return literal(Number(text));
    const word = words.get(text);
    if (word !== undefined) return literal(word);
    const quote = /^[\p{L}\p{N}_.-]+$/u.test(text)
      ? ` A text must be in quotes: "${text.slice(0, 40)}".`
      : '';
    throw new Mistake(at, `"${text.slice(0, 40)}" is nothing that can be compared.${quote}`);
  }

  #takes(text: string): boolean {
    if (this.#tokens[this.#next]?.text !== text) return false;
    this.#next += 1;
    return true;
  }

  #mistake(message: string): Mistake {
    return new Mistake(this.#tokens[this.#next]?.at ?? this.#text.length, message);
  }
}

const words = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function referenceAt(text: string, at: number): Reference {
  const found = readReference(text.slice(2, -2).trim());
  if ('message' in found) throw new Mistake(at, found.message, found.nearest);
  return found;
}

function textAt(text: string, at: number): string {
  const inner = text.slice(1, -1).replace(/\\(.)/gsu, '$1');
  if (!inner.includes('{{')) return inner;
  throw new Mistake(at, 'a template in quotes stays as it is; write it without the quotes.');
}

function literal(value: Json): Operand {
  return { is: 'literal', value };
}

function no(text: string, at: number, message: string, nearest?: string): ParsedCondition {
  return {
    ok: false,
    issues: [{ ...placeOf(text, at), message, ...(nearest === undefined ? {} : { nearest }) }],
  };
}
