/** Values shorter than this, in characters, are not looked for: they would be found everywhere. */
const shortestLength = 8;
/** How many values are remembered; the oldest are forgotten first. */
const mostValues = 1000;

/**
 * Keeps values that must not be told out of every text that is. A value is found as it is, and as it is written inside a
 * JSON string. One that an agent cuts in two, or encodes in another way, is not found.
 */
export class Redaction {
  /** What to put in place of each form of a value, the longest first; made when it is asked for. */
  #forms: readonly (readonly [form: string, instead: string])[] | undefined;
  readonly #names = new Map<string, string>();

  /** From now on the value is told as `[secret NAME]`. A value that is too short to be told apart is left alone. */
  add(name: string, value: string): void {
    const known = value.trim();
    if (known.length < shortestLength || this.#names.has(known)) return;
    this.#names.set(known, name);
    const oldest = this.#names.keys().next();
    if (this.#names.size > mostValues && !oldest.done) this.#names.delete(oldest.value);
    this.#forms = undefined;
  }

  /** The text without any of the values. */
  text(text: string): string {
    this.#forms ??= [...this.#names]
      .flatMap(([value, of]) => formsOf(value).map((form) => [form, `[secret ${of}]`] as const))
      .toSorted(([a], [b]) => b.length - a.length);
    let clean = text;
    for (const [form, instead] of this.#forms)
      if (clean.includes(form)) clean = clean.replaceAll(form, () => instead);
    return clean;
  }
}

/** A value as it is, and as it looks in a JSON string, if that is something else; of one with many lines, the long lines. */
function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const parts = lines.length > 1 ? lines.filter((line) => line.length >= shortestLength * 2) : [];
  return [...new Set([value, ...parts].flatMap((each) => [each, JSON.stringify(each).slice(1, -1)]))];
}
