import { type ReadYaml, readYaml, type YamlProblem } from '../cli/yaml-file.ts';
import { problemsOfSchema } from '../step-data/schema.ts';
import { checkWorkflow } from '../workflows/check.ts';
import { outlineOf, type WorkflowFacts, type WorkflowOutline } from '../workflows/facts.ts';
import { keysOfWorkflow, type ReadWorkflow, readWorkflowFile } from '../workflows/read-file.ts';
import { findWorkflows, readWorkflowText, type WorkflowPaths } from './workflow-directory.ts';

/** A project: what its workflows belong to, and where their files are; absolute. */
export interface WorkflowProject {
  readonly project: string;
  /** Of `stemma.yaml`: relative directories of workflows are meant from here. */
  readonly directory: string;
  /** Of the workflow files. */
  readonly workflows: string;
}

/** A file as it was read, with what is wrong with it. */
export interface CheckedWorkflow {
  readonly name: string;
  readonly file: ReadWorkflow;
  /** In the order of the file; empty: it may be launched. */
  readonly problems: readonly YamlProblem[];
}

type OtherFacts = Pick<WorkflowFacts, 'agents' | 'refusalOfBudget'>;

interface Parsed {
  readonly file: ReadWorkflow;
  readonly explain: (issues: ReadWorkflow['issues']) => readonly YamlProblem[];
  /** Why it is no YAML; then nothing else is told. */
  readonly broken: readonly YamlProblem[];
}

/** The workflows of one project as they are at one moment: each file is read at most once, when it is first needed. */
export class WorkflowReading {
  readonly #directory: string;
  readonly #paths: WorkflowPaths;
  readonly #parsed = new Map<string, Promise<Parsed>>();

  private constructor(directory: string, paths: WorkflowPaths) {
    this.#directory = directory;
    this.#paths = paths;
  }

  /** Looks into the directory of workflows; one that is not there has none. */
  static async of(directory: string): Promise<WorkflowReading> {
    return new WorkflowReading(directory, await findWorkflows(directory));
  }

  get names(): readonly string[] {
    return this.#paths.files.map(({ name }) => name);
  }

  /** Files that cannot be workflows, and why. */
  get odd(): WorkflowPaths['odd'] {
    return this.#paths.odd;
  }

  /** Takes a text for the file of that name, whether or not there is one. */
  put(name: string, path: string, text: string): void {
    this.#parsed.set(name, Promise.resolve(parse(text, path)));
  }

  /** A workflow, checked with those that it names; undefined: there is none of this name. */
  async check(name: string, facts: OtherFacts): Promise<CheckedWorkflow | undefined> {
    const parsed = await this.#read(name);
    if (!parsed) return undefined;
    const { file, broken, explain } = parsed;
    if (broken.length > 0) return { name, file, problems: broken };
    const workflows = await this.#outlines(name);
    const issues = checkWorkflow(file, { problemsOfSchema, ...facts, name, workflows });
    return { name, file, problems: issues.length === 0 ? [] : explain(issues) };
  }

  /** Those that can be come to from one are known; of the others only that they are there. */
  async #outlines(name: string): Promise<Map<string, WorkflowOutline>> {
    const known = new Map<string, WorkflowOutline>();
    const next = [name];
    for (const each of next) {
      const parsed = known.has(each) ? undefined : await this.#read(each);
      if (!parsed) continue;
      const outline = outlineOf(parsed.file);
      known.set(each, outline);
      next.push(...outline.calls, ...(outline.evaluation === null ? [] : [outline.evaluation]));
    }
    for (const each of this.names) if (!known.has(each)) known.set(each, unread);
    return known;
  }

  async #read(name: string): Promise<Parsed | undefined> {
    const before = this.#parsed.get(name);
    if (before) return before;
    const found = this.#paths.files.find((file) => file.name === name);
    if (!found) return undefined;
    const reading = readWorkflowText(found.path, this.#directory).then((read) =>
      read.ok ? parse(read.text, found.path) : unreadable(found.path, read.why),
    );
    this.#parsed.set(name, reading);
    return reading;
  }
}

const unread: WorkflowOutline = {
  isEvaluation: false,
  evaluation: null,
  groups: [],
  inputs: new Map(),
  outputs: [],
  calls: [],
  isWhole: false,
};

/** Texts that were read last, with what they are: the groups of a file that is sent are each defined by all of it. */
const lately = new Map<string, Parsed>();
const mostKept = 16;

function parse(text: string, path: string): Parsed {
  const key = `${path}\0${text}`;
  const known = lately.get(key);
  if (known) return known;
  const parsed = parseAnew(text, path);
  const oldest = lately.keys().next().value;
  if (lately.size >= mostKept && oldest !== undefined) lately.delete(oldest);
  lately.set(key, parsed);
  return parsed;
}

function parseAnew(text: string, path: string): Parsed {
  const yaml: ReadYaml | ReturnType<typeof readYaml> = readYaml(text, path);
  if (!yaml.ok) return { file: brokenFile(), broken: yaml.problems, explain: () => yaml.problems };
  const { value } = yaml;
  const explain: Parsed['explain'] = (issues) => yaml.explain(issues, (at) => keysOfWorkflow(value, at));
  return { file: readWorkflowFile(value), broken: [], explain };
}

function unreadable(file: string, why: string): Parsed {
  const problem = {
    file,
    line: 1,
    column: 1,
    key: '',
    message: `the file cannot be read: ${why}`,
    excerpt: '',
  };
  return { file: brokenFile(), broken: [problem], explain: () => [problem] };
}

function brokenFile(): ReadWorkflow {
  const issue = { path: [], message: 'the file cannot be read', unknownKeys: [] };
  return { head: {}, broken: new Set(), steps: new Map(), names: new Set(), issues: [issue] };
}
