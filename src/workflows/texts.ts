import type { Json } from '../base/json.ts';
import { cut, fillParts, type PlainPart, type Rendered } from '../schedules/templates.ts';
import { parseText, type Reference } from './reference.ts';
import { resolveReference, type WorkflowValues } from './values.ts';

/**
 * A text of a workflow with its templates filled in, or in a sentence why there is none: a template that stands for
 * nothing makes none, unless it says what stands there then (`{{steps.fix.result ?? "nothing"}}`). What values bring in is never read
 * as a template. The text must not go to a shell: what a value brings in would be read as a command. Never rejects.
 */
export async function fillText(text: string, values: WorkflowValues): Promise<Rendered> {
  return fillParts<Reference | PlainPart>(parseText(text), async (part) =>
    part.is === 'text' ? { ok: true, text: part.text } : await fillOne(part, values),
  );
}

/** Each value of a record filled in, in its order; the first that cannot be had ends it, and is named. */
export async function fillTexts(
  texts: Readonly<Record<string, string>>,
  values: WorkflowValues,
): Promise<
  | { readonly ok: true; readonly texts: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string }
> {
  const filled: [string, string][] = [];
  for (const [name, text] of Object.entries(texts)) {
    const rendered = await fillText(text, values);
    if (!rendered.ok) return { ok: false, message: `${name}: ${rendered.message}` };
    filled.push([name, rendered.text]);
  }
  return { ok: true, texts: Object.fromEntries(filled) };
}

/** A value as it stands in a text: texts as they are, everything else as JSON. */
export function textOfValue(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function fillOne(reference: Reference, values: WorkflowValues): Promise<Rendered> {
  const found = await resolveReference(reference, values);
  if (found.is === 'value') return { ok: true, text: cut(textOfValue(found.value)) };
  const { otherwise } = reference;
  if (found.is === 'absent' && otherwise !== null) return { ok: true, text: otherwise };
  return { ok: false, message: found.why };
}
