import { findNearest } from '../base/nearest.ts';
import { flattenIssues, type SchemaIssue } from '../contract/schema-issues.ts';
import { keysAt } from '../contract/schema-keys.ts';
import { type WorkflowHead, workflowHead } from '../contract/workflow-file.ts';
import { type StepInput, stepSchemas, type StepTypeName } from '../contract/workflow-steps.ts';

/** One thing that is wrong, with the way to its key. */
export type WorkflowIssue = SchemaIssue;

/** What could be read of a workflow file. What could not has issues, and is not there. */
export interface ReadWorkflow {
  readonly head: Partial<Omit<WorkflowHead, 'steps'>>;
  /** The keys of the head that have mistakes. */
  readonly broken: ReadonlySet<string>;
  readonly steps: ReadonlyMap<string, StepInput>;
  /** Every step that is named, those that could not be read too. */
  readonly names: ReadonlySet<string>;
  readonly issues: readonly WorkflowIssue[];
}

/** Deeper values are no workflow, and would take the stack of whoever reads them. */
const deepest = 40;
/** How many mistakes are looked for. */
const mostIssues = 100;

/**
 * Reads what a YAML file holds, key by key and step by step, so that one mistake hides no other. Never throws for what it
 * says.
 */
export function readWorkflowFile(raw: unknown): ReadWorkflow {
  const empty = { head: {}, broken: new Set<string>(), steps: new Map(), names: new Set<string>() };
  if (isTooDeep(raw)) return { ...empty, issues: [issue([], 'is nested too deeply, or contains itself')] };
  const whole = workflowHead.safeParse(raw, { reportInput: true });
  const issues = [...unusable(raw), ...(whole.success ? [] : flattenIssues(whole.error.issues))];
  if (!isMapping(raw)) return { ...empty, issues };
  const { head, broken } = readHead(raw);
  const said = isMapping(raw['steps']) ? raw['steps'] : {};
  const steps = new Map<string, StepInput>();
  for (const [name, value] of Object.entries(said)) {
    if (issues.length >= mostIssues) break;
    const read = readStep(value);
    if ('type' in read) steps.set(name, read);
    else issues.push(...read.issues.map((found) => ({ ...found, path: ['steps', name, ...found.path] })));
  }
  return { head, broken, steps, names: new Set(Object.keys(said)), issues };
}

/** The keys that are valid at a place of a file: those of a step are those of its type. */
export function keysOfWorkflow(raw: unknown, path: readonly PropertyKey[]): string[] {
  const [top, name, ...rest] = path;
  if (top !== 'steps' || name === undefined) return keysAt(workflowHead, path);
  const steps = isMapping(raw) && isMapping(raw['steps']) ? raw['steps'] : {};
  const type = typeOf(steps[String(name)]);
  return typeof type === 'string' ? keysAt(stepSchemas[type], rest) : Object.values(marks);
}

function readHead(raw: Readonly<Record<string, unknown>>): Pick<ReadWorkflow, 'head' | 'broken'> {
  const head: Record<string, unknown> = {};
  const broken = new Set<string>();
  for (const [key, schema] of Object.entries(workflowHead.shape)) {
    if (key === 'steps' || !Object.hasOwn(raw, key)) continue;
    const read = schema.safeParse(raw[key]);
    if (read.success) head[key] = read.data;
    else broken.add(key);
  }
  return { head, broken };
}

function readStep(raw: unknown): StepInput | { readonly issues: readonly WorkflowIssue[] } {
  const type = typeOf(raw);
  if (typeof type !== 'string') return { issues: [type] };
  const read = stepSchemas[type].safeParse(raw, { reportInput: true });
  if (!read.success) return { issues: flattenIssues(read.error.issues) };
  return { type, said: read.data } as StepInput;
}

/** The key that says what a step does, where its type is left out. In the order in which they are looked for. */
const marks: Readonly<Record<StepTypeName, string>> = {
  script: 'run',
  sequence: 'messages',
  human: 'question',
  workflow: 'workflow',
  route: 'cases',
  todo: 'agents',
  agent: 'prompt',
};
const types = Object.keys(stepSchemas) as StepTypeName[];

function typeOf(raw: unknown): StepTypeName | WorkflowIssue {
  if (!isMapping(raw)) return issue([], `expected a mapping (key: value), found ${kindOf(raw)}`);
  if (Object.hasOwn(raw, 'type')) {
    const said = raw['type'];
    const known = types.find((type) => type === said);
    const nearest = typeof said === 'string' ? findNearest(said, types) : undefined;
    return known ?? issue(['type'], `expected one of ${types.join(', ')}`, nearest);
  }
  const marked = (Object.keys(marks) as StepTypeName[]).find((type) => Object.hasOwn(raw, marks[type]));
  return marked ?? unmarked(raw);
}

function unmarked(raw: Readonly<Record<string, unknown>>): WorkflowIssue {
  for (const key of Object.keys(raw)) {
    // It was to bring what the step does.
    if (key === '<<') return { path: [], message: '', unknownKeys: [key] };
    const meant = findNearest(key, Object.values(marks));
    if (meant !== undefined) return { path: [], message: '', unknownKeys: [key] };
  }
  return issue(
    [],
    'does not say what it does; it needs one of run, prompt, messages, question, workflow, cases, agents',
  );
}

function issue(path: readonly PropertyKey[], message: string, nearest?: string): WorkflowIssue {
  return { path, message, unknownKeys: [], ...(nearest === undefined ? {} : { nearest }) };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

/** A key that whoever reads objects leaves out without a word, so that what stands below it would be lost. */
const unusableKey = '__proto__';

function unusable(value: unknown, path: readonly PropertyKey[] = []): WorkflowIssue[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === unusableKey
      ? [issue([...path, key], 'can be no name; use another one')]
      : unusable(part, [...path, key]),
  );
}

// YAML can say a value that contains itself, which is as deep as one likes.
function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= deepest || Object.values(value).some((part) => isTooDeep(part, depth + 1));
}
