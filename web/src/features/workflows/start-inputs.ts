import type { Workflow } from '../../../../src/contract/workflow.ts';

type Input = Workflow['inputs'][string];

/**
 * What is sent of what was filled in: numbers and truth as such, and nothing of what was left empty, so that its default counts.
 * `problems`: by name, why one cannot be sent.
 */
export function sentInputs(
  declared: Readonly<Record<string, Input>>,
  filled: Readonly<Record<string, string>>,
): {
  readonly inputs: Record<string, string | number | boolean>;
  readonly problems: ReadonlyMap<string, string>;
} {
  const inputs: Record<string, string | number | boolean> = {};
  const problems = new Map<string, string>();
  for (const [name, input] of Object.entries(declared)) {
    const text = filled[name] ?? '';
    if (text === '') {
      if (input.required && input.default === undefined) problems.set(name, 'is needed');
      continue;
    }
    const value = valueOf(input, text);
    if (value === undefined) problems.set(name, 'is no number');
    else inputs[name] = value;
  }
  return { inputs, problems };
}

function valueOf({ type }: Input, text: string): string | number | boolean | undefined {
  if (type === 'boolean') return text === 'true';
  if (type !== 'number') return text;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** What stands in an empty field: the default that counts then. */
export function defaultWords({ default: value }: Input): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
