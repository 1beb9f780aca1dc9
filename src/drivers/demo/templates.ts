/**
 * Templates of a script: `{{0}}` is what the pattern matched, `{{1}}` its first group, `{{text}}` the whole prompt,
 * `{{name}}` the text of a result saved by `saveAs`, and `{{name.field}}` a field of it.
 */

/** What templates are filled from. `saved` grows while the actions are played. */
export interface Values {
  readonly text: string;
  readonly groups: readonly (string | undefined)[];
  readonly saved: Map<string, { readonly text: string; readonly data: unknown }>;
}

const template = /\{\{\s*([\w.]+)\s*\}\}/g;

/** Fills every template in the strings of `value`, at any depth. A group that took no part is empty. */
export function fill<T>(value: T, values: Values): T {
  return fillAny(value, values) as T;
}

function fillAny(value: unknown, values: Values): unknown {
  if (typeof value === 'string') return value.replace(template, (_, key: string) => lookUp(key, values));
  if (Array.isArray(value)) return value.map((entry) => fillAny(entry, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fillAny(entry, values)]));
}

function lookUp(key: string, values: Values): string {
  if (key === 'text') return values.text;
  if (/^\d+$/.test(key)) return values.groups[Number(key)] ?? '';
  const [name = '', ...fields] = key.split('.');
  const saved = values.saved.get(name);
  if (!saved) return '';
  if (fields.length === 0) return saved.text;
  const found = fields.reduce<unknown>((inner, field) => fieldOf(inner, field), saved.data);
  return typeof found === 'string' ? found : found === undefined ? '' : JSON.stringify(found);
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined;
}

/** Templates that can never be filled: a group the pattern does not have, a result that nothing saves. */
export function strayTemplates(actions: unknown, groups: number): { path: PropertyKey[]; message: string }[] {
  const saved = new Set<string>();
  walk(actions, [], (value, path) => {
    if (path.at(-1) === 'saveAs') saved.add(value);
  });
  const strays: { path: PropertyKey[]; message: string }[] = [];
  walk(actions, [], (value, path) => {
    for (const [, key = ''] of value.matchAll(template)) {
      const name = key.split('.')[0] ?? '';
      if (/^\d+$/.test(key) && Number(key) > groups)
        strays.push({ path, message: `the pattern has no group ${key}` });
      else if (!/^\d+$/.test(key) && key !== 'text' && !saved.has(name)) {
        strays.push({ path, message: `no call of this rule says "saveAs": "${name}"` });
      }
    }
  });
  return strays;
}

function walk(
  value: unknown,
  path: PropertyKey[],
  onText: (text: string, path: PropertyKey[]) => void,
): void {
  if (typeof value === 'string') onText(value, path);
  else if (Array.isArray(value)) value.forEach((entry, index) => walk(entry, [...path, index], onText));
  else if (typeof value === 'object' && value !== null) {
    for (const [key, entry] of Object.entries(value)) walk(entry, [...path, key], onText);
  }
}
