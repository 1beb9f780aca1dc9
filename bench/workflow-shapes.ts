/** A workflow file, as JSON says it. */
export interface Shape {
  readonly name: string;
  /** Its file below `workflows/`, and other files below the directory of the configuration. */
  readonly files: Readonly<Record<string, string>>;
  /** How many things it does that cost something: steps, or rows. */
  readonly count: number;
}

const script = { run: 'true' };
const agent = { agent: 'demo', prompt: 'Go on.' };

/** Which steps the one at this place needs. */
type Needs = (index: number) => readonly number[];

const shapes: Readonly<Record<string, Needs>> = {
  chain: (i) => (i === 0 ? [] : [i - 1]),
  wide: () => [],
  // Layers of 20; each step needs three of the layer before.
  layers: (i) => (i < 20 ? [] : [0, 7, 13].map((more) => (Math.floor(i / 20) - 1) * 20 + ((i + more) % 20))),
};

/** So many steps, all alike, in one of the shapes: `chain`, `wide` or `layers`. */
export function steps(shape: string, count: number, what: 'script' | 'agent'): Shape {
  const needs = shapes[shape];
  if (!needs) throw new Error(`no shape ${shape}: there are ${Object.keys(shapes).join(', ')}`);
  const name = `${shape}-${count}-${what}`;
  const all = Array.from({ length: count }, (_, i) => {
    const before = needs(i).map((place) => `s${place}`);
    return [
      `s${i}`,
      { ...(what === 'script' ? script : agent), ...(before.length > 0 ? { needs: before } : {}) },
    ];
  });
  return { name, count, files: workflow(name, { steps: Object.fromEntries(all) }) };
}

/** A message for each of so many rows, all in one conversation with the demo agent. */
export function rows(count: number): Shape {
  const name = `rows-${count}`;
  const table = ['title', ...Array.from({ length: count }, (_, i) => `row ${i}`)].join('\n');
  const write = { agent: 'demo', foreach: { csv: `${name}.csv` }, messages: ['Write {{row.title}}.'] };
  return { name, count, files: { ...workflow(name, { steps: { write } }), [`${name}.csv`]: `${table}\n` } };
}

function workflow(name: string, file: object): Record<string, string> {
  return { [`workflows/${name}.yaml`]: JSON.stringify({ apiVersion: 'stemma/v1', ...file }) };
}
