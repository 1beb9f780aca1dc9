/** How often a condition is looked at that nothing announces, in milliseconds. */
const lookEveryMs = 20;

/** How long the harness waits when a test does not say: far longer than anything takes, also on a busy machine. */
export const patienceMs = 40_000;

/**
 * Waits until `condition` gives something that is neither `undefined` nor `false`, and answers that. Rejects at the
 * deadline, saying what was waited for and, by `seen`, what there was instead.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  options: { readonly withinMs?: number; readonly everyMs?: number; readonly seen?: () => unknown } = {},
): Promise<T> {
  const { withinMs = patienceMs, everyMs = lookEveryMs, seen } = options;
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) {
      const instead = seen === undefined ? '' : `; there was ${JSON.stringify(await seen(), null, 1)}`;
      throw new Error(`${what}: not within ${withinMs} ms${instead}`);
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
