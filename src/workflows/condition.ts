import { assertNever } from '../base/assert-never.ts';
import type { Json } from '../base/json.ts';
import type { Comparison, Condition, Operand } from './condition-syntax.ts';
import { parseCondition } from './condition-syntax.ts';
import type { Reference } from './reference.ts';
import { textOfValue } from './texts.ts';
import { resolveReference, type WorkflowValues } from './values.ts';

/** Whether a condition holds, or in a sentence why nobody can say. */
export type Held =
  | { readonly ok: true; readonly value: boolean }
  | { readonly ok: false; readonly message: string };

/**
 * Whether a condition holds. A template without a value is null there. What values bring in is compared, and never read as
 * a part of the condition. Never rejects.
 */
export async function holds(text: string, values: WorkflowValues): Promise<Held> {
  const parsed = parseCondition(text);
  if (!parsed.ok) return { ok: false, message: parsed.issues.map(({ message }) => message).join(' ') };
  const known = new Map<Reference, Json>();
  for (const reference of referencesOf(parsed.condition)) {
    const found = await resolveReference(reference, values);
    if (found.is === 'failed') return { ok: false, message: found.why };
    known.set(reference, found.is === 'value' ? found.value : reference.otherwise);
  }
  return decide(parsed.condition, (reference) => known.get(reference) ?? null);
}

/** What a condition without templates always is; undefined when it has some, or cannot be decided. */
export function constantOf(condition: Condition): boolean | undefined {
  if (referencesOf(condition).length > 0) return undefined;
  const held = decide(condition, () => null);
  return held.ok ? held.value : undefined;
}

/** The templates of a condition. */
export function referencesOf(condition: Condition): Reference[] {
  switch (condition.is) {
    case 'or':
    case 'and':
      return condition.items.flatMap(referencesOf);
    case 'not':
      return referencesOf(condition.item);
    case 'compare':
      return [condition.left, ...condition.right].flatMap(referenceOf);
    case 'alone':
      return referenceOf(condition.operand);
    default:
      return assertNever(condition);
  }
}

function referenceOf(operand: Operand): Reference[] {
  return operand.is === 'reference' ? [operand] : [];
}

type Lookup = (reference: Reference) => Json;

function decide(condition: Condition, lookup: Lookup): Held {
  switch (condition.is) {
    case 'or':
    case 'and':
      return decideAll(condition.items, condition.is === 'or', lookup);
    case 'not': {
      const held = decide(condition.item, lookup);
      return held.ok ? { ok: true, value: !held.value } : held;
    }
    case 'compare':
      return { ok: true, value: compare(condition, lookup) };
    case 'alone':
      return truthOf(condition.operand, lookup);
    default:
      return assertNever(condition);
  }
}

/** Up to the first that decides, as everywhere: what stands behind it need not make sense then. */
function decideAll(items: readonly Condition[], decisive: boolean, lookup: Lookup): Held {
  for (const item of items) {
    const held = decide(item, lookup);
    if (!held.ok || held.value === decisive) return held;
  }
  return { ok: true, value: !decisive };
}

function compare({ left, right, how }: Comparison, lookup: Lookup): boolean {
  const value = valueOf(left, lookup);
  const others = right.map((operand) => valueOf(operand, lookup));
  const [first] = others;
  if (how === '==') return isSame(value, first ?? null);
  if (how === '!=') return !isSame(value, first ?? null);
  // A list that a template stands for is looked into; else it would have to be written out.
  const list = others.length === 1 && right[0]?.is === 'reference' && Array.isArray(first) ? first : others;
  return (list as readonly Json[]).some((other) => isSame(value, other));
}

function valueOf(operand: Operand, lookup: Lookup): Json {
  return operand.is === 'literal' ? operand.value : lookup(operand);
}

/** Numbers and truth that came as texts, from a command or an input, are what they say; null is only null. */
function isSame(a: Json, b: Json): boolean {
  if (a === null || b === null) return a === b;
  if (typeof a === typeof b && typeof a !== 'object') return a === b;
  return textOfValue(a) === textOfValue(b);
}

function truthOf(operand: Operand, lookup: Lookup): Held {
  const value = valueOf(operand, lookup);
  if (value === true || value === 'true') return { ok: true, value: true };
  if (value === false || value === 'false' || value === null) return { ok: true, value: false };
  const shown = operand.is === 'reference' ? `{{${operand.name}}}` : textOfValue(value);
  return { ok: false, message: `${shown} is neither true nor false; compare it with something.` };
}
