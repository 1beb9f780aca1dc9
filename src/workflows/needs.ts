import type { StepInput } from '../contract/workflow-steps.ts';
import type { ReadWorkflow } from './read-file.ts';

/** What each step needs: what it says, and the routes that may choose it. Only steps that could be read; names as written. */
export function needsOf({ steps }: Pick<ReadWorkflow, 'steps'>): Map<string, readonly string[]> {
  const needs = new Map(
    [...steps].map(([name, { said }]) => [
      name,
      new Set((said.needs ?? []).filter((needed) => needed !== name)),
    ]),
  );
  for (const [route, step] of steps)
    for (const chosen of casesOf(step).flatMap(([, names]) => names)) needs.get(chosen)?.add(route);
  return new Map([...needs].map(([name, set]) => [name, [...set]]));
}

/** The cases of a route, with the steps of each. */
export function casesOf(step: StepInput): [string, readonly string[]][] {
  return step.type === 'route' ? Object.entries(step.said.cases) : [];
}

/** The order in which steps can be done, and the steps of a circle, if there is one. Names that nothing has are left out. */
export function orderOf(needs: ReadonlyMap<string, readonly string[]>): {
  readonly order: readonly string[];
  readonly circle: readonly string[];
} {
  const left = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const [name, needed] of needs) {
    const known = needed.filter((each) => needs.has(each));
    left.set(name, known.length);
    for (const each of known) {
      const others = dependents.get(each);
      if (others) others.push(name);
      else dependents.set(each, [name]);
    }
  }
  const order = [...left].filter(([, count]) => count === 0).map(([name]) => name);
  // Grows while it is walked: what becomes free is behind what freed it.
  for (const name of order)
    for (const dependent of dependents.get(name) ?? []) {
      const count = (left.get(dependent) ?? 0) - 1;
      left.set(dependent, count);
      if (count === 0) order.push(dependent);
    }
  return { order, circle: order.length === needs.size ? [] : circleIn(needs, new Set(order)) };
}

/** From any step that never becomes free there is a way to others of that kind, which must come back to itself. */
function circleIn(needs: ReadonlyMap<string, readonly string[]>, free: ReadonlySet<string>): string[] {
  const stuck = (name: string): boolean => needs.has(name) && !free.has(name);
  const way: string[] = [];
  const seen = new Map<string, number>();
  let at = [...needs.keys()].find(stuck);
  while (at !== undefined && !seen.has(at)) {
    seen.set(at, way.length);
    way.push(at);
    at = needs.get(at)?.find(stuck);
  }
  return at === undefined ? [] : way.slice(seen.get(at));
}

/** Which steps have ended before a step begins, for each step: a bit for each, in the order of `order`. */
export class Upstream {
  readonly #places: ReadonlyMap<string, number>;
  readonly #bits = new Map<string, Uint32Array>();

  /** `order`: each step behind all that it needs. */
  constructor(needs: ReadonlyMap<string, readonly string[]>, order: readonly string[]) {
    this.#places = new Map(order.map((name, place) => [name, place]));
    for (const name of order) {
      const bits = new Uint32Array(Math.ceil(order.length / 32));
      for (const needed of needs.get(name) ?? []) this.#take(bits, needed);
      this.#bits.set(name, bits);
    }
  }

  /** Whether `earlier` has ended whenever `step` begins. What is in a circle is before nothing. */
  isBefore(earlier: string, step: string): boolean {
    const place = this.#places.get(earlier);
    const bits = this.#bits.get(step);
    if (place === undefined || bits === undefined) return false;
    return ((bits[place >>> 5] ?? 0) & (1 << (place & 31))) !== 0;
  }

  /** Whether a step needs itself, by whatever way, or needs one that does. */
  isInCircle(step: string): boolean {
    return !this.#places.has(step);
  }

  #take(bits: Uint32Array, needed: string): void {
    const place = this.#places.get(needed);
    if (place === undefined) return;
    bits[place >>> 5] = (bits[place >>> 5] ?? 0) | (1 << (place & 31));
    this.#bits.get(needed)?.forEach((word, at) => {
      bits[at] = (bits[at] ?? 0) | word;
    });
  }
}
