/** What is laid out: a step, and those that it needs. */
export interface GraphInput {
  readonly name: string;
  readonly needs: readonly string[];
}

/** Where a step stands: its layer from the left, its place in it from above, and the pixels of its corner. */
export interface GraphNode {
  readonly name: string;
  readonly layer: number;
  readonly place: number;
  readonly x: number;
  readonly y: number;
}

/** A need, as a path of SVG. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

/** A graph that is laid out, from the left to the right. */
export interface GraphLayout {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly width: number;
  readonly height: number;
}

/** The pixels of a node, and between two of them. */
export const nodeSize = { width: 148, height: 40, gapX: 56, gapY: 16 } as const;

/** How often the order within the layers is improved. */
const sweeps = 8;

/** A place in a layer: that of a step, or one through which a long edge passes. */
interface Slot {
  readonly id: string;
  readonly layer: number;
  readonly name: string | undefined;
  readonly before: Slot[];
  readonly after: Slot[];
  place: number;
}

/** Lays steps out by what they need: each right of all that it needs, with few crossings. What is unknown is left out. */
export function layoutGraph(steps: readonly GraphInput[]): GraphLayout {
  const layers = layersOf(steps);
  const { slots, chains } = slotsOf(steps, layers);
  const rows: Slot[][] = [];
  for (const slot of slots) (rows[slot.layer] ??= []).push(slot);
  for (const row of rows) row.forEach((slot, place) => (slot.place = place));
  for (let sweep = 0; sweep < sweeps; sweep++)
    improve(sweep % 2 === 0 ? rows : rows.toReversed(), sweep % 2 === 0);
  const highest = Math.max(1, ...rows.map((row) => row.length));
  const { width, height, gapX, gapY } = nodeSize;
  const corner = ({ layer, place }: Slot): { x: number; y: number } => ({
    x: layer * (width + gapX),
    y: (place + (highest - (rows[layer]?.length ?? 0)) / 2) * (height + gapY),
  });
  const nodes = slots.flatMap((slot) =>
    slot.name === undefined
      ? []
      : [{ name: slot.name, layer: slot.layer, place: slot.place, ...corner(slot) }],
  );
  const edges = chains.map(({ from, to, through }) => ({ from, to, path: pathOf(through.map(corner)) }));
  return {
    nodes: nodes.toSorted((left, right) => left.layer - right.layer || left.place - right.place),
    edges,
    width: Math.max(0, rows.length * (width + gapX) - gapX),
    height: highest * (height + gapY) - gapY,
  };
}

/** The step beside another one, in the direction of an arrow key; undefined where there is none. */
export function neighbourOf(layout: GraphLayout, name: string, key: string): string | undefined {
  const at = layout.nodes.find((node) => node.name === name);
  if (!at) return undefined;
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const column = layout.nodes.filter(({ layer }) => layer === at.layer);
    return column[column.indexOf(at) + (key === 'ArrowUp' ? -1 : 1)]?.name;
  }
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return undefined;
  const layer = at.layer + (key === 'ArrowLeft' ? -1 : 1);
  const near = layout.nodes
    .filter((node) => node.layer === layer)
    .toSorted((left, right) => Math.abs(left.y - at.y) - Math.abs(right.y - at.y));
  return near[0]?.name;
}

/** The longest way from a step that needs nothing. A circle, which a file cannot have, does not go on for ever. */
function layersOf(steps: readonly GraphInput[]): Map<string, number> {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const layers = new Map<string, number>();
  for (const { name: first } of steps) {
    const stack = [first];
    while (stack.length > 0) {
      const name = stack.at(-1) ?? '';
      const open = (byName.get(name)?.needs ?? []).filter(
        (need) => byName.has(need) && !layers.has(need) && !stack.includes(need),
      );
      const [next] = open;
      if (next !== undefined) {
        stack.push(next);
        continue;
      }
      const below = (byName.get(name)?.needs ?? []).map((need) => layers.get(need) ?? -1);
      layers.set(name, Math.max(-1, ...below) + 1);
      stack.pop();
    }
  }
  return layers;
}

interface Chain {
  readonly from: string;
  readonly to: string;
  readonly through: readonly Slot[];
}

function slotsOf(
  steps: readonly GraphInput[],
  layers: ReadonlyMap<string, number>,
): { readonly slots: Slot[]; readonly chains: Chain[] } {
  const slots: Slot[] = [];
  const add = (id: string, layer: number, name: string | undefined): Slot => {
    const slot = { id, layer, name, before: [], after: [], place: 0 };
    slots.push(slot);
    return slot;
  };
  const byName = new Map(steps.map(({ name }) => [name, add(name, layers.get(name) ?? 0, name)]));
  const chains: Chain[] = [];
  for (const { name, needs } of steps) {
    const to = byName.get(name);
    for (const need of needs) {
      const from = byName.get(need);
      if (!from || !to || from.layer >= to.layer) continue;
      const through = [from];
      for (let layer = from.layer + 1; layer < to.layer; layer++)
        through.push(add(`${need}→${name}/${layer}`, layer, undefined));
      through.push(to);
      for (const [index, slot] of through.entries()) {
        const next = through[index + 1];
        if (!next) continue;
        slot.after.push(next);
        next.before.push(slot);
      }
      chains.push({ from: need, to: name, through });
    }
  }
  return { slots, chains };
}

/** Puts each slot where those beside it are, on average; a layer after the other. */
function improve(rows: readonly Slot[][], isForward: boolean): void {
  for (const row of rows) {
    const wanted = new Map(
      row.map((slot) => {
        const beside = isForward ? slot.before : slot.after;
        const sum = beside.reduce((total, { place }) => total + place, 0);
        return [slot, beside.length === 0 ? slot.place : sum / beside.length] as const;
      }),
    );
    row.sort((left, right) => (wanted.get(left) ?? 0) - (wanted.get(right) ?? 0) || left.place - right.place);
    row.forEach((slot, place) => (slot.place = place));
  }
}

/** From the right of the first through the middles of those between to the left of the last. */
function pathOf(corners: readonly { readonly x: number; readonly y: number }[]): string {
  const { width, height } = nodeSize;
  const points = corners.flatMap(({ x, y }, index) => {
    const middle = y + height / 2;
    if (index === 0) return [[x + width, middle] as const];
    if (index === corners.length - 1) return [[x, middle] as const];
    return [[x, middle] as const, [x + width, middle] as const];
  });
  return points
    .map(([x, y], index) => {
      const before = points[index - 1];
      if (!before) return `M${x} ${y}`;
      const bend = (x - before[0]) / 2;
      return before[1] === y ? `H${x}` : `C${before[0] + bend} ${before[1]} ${x - bend} ${y} ${x} ${y}`;
    })
    .join('');
}
