import { basename, dirname, resolve } from 'node:path';
import { StemmaError } from '../base/errors.ts';
import { findNearest } from '../base/nearest.ts';
import type { CheckedWorkflowFile, WorkflowCheckRequest } from '../cli/ports.ts';
import { factsOf } from './agent-facts.ts';
import { agentsOffline } from './check-agent.ts';
import type { Installation } from './server.ts';
import { readWorkflowText } from './workflow-directory.ts';
import { workflowProjectOf } from './workflow-project.ts';
import { WorkflowReading } from './workflow-reading.ts';

/**
 * Checks workflows without a server: those that are named, by name or by file, else all of the project. Rejects with
 * `NOT_FOUND`, and with `INVALID_CONFIG` when the configuration itself has mistakes.
 */
export async function checkWorkflowsOffline(
  { configFile, cwd, wanted }: WorkflowCheckRequest,
  installation: Installation,
): Promise<CheckedWorkflowFile[]> {
  const { agents, config } = await agentsOffline(
    configFile === undefined ? {} : { configFile },
    installation,
  );
  const project = configFile === undefined ? undefined : workflowProjectOf(config, configFile);
  const directory = project?.workflows ?? besideFirst(cwd, wanted);
  const reading = await WorkflowReading.of(directory);
  const odd = reading.odd.map(({ name, why }) => unusable(name, why));
  const names =
    wanted.length === 0 ? reading.names : await Promise.all(wanted.map((each) => nameOf(each, cwd, reading)));
  const facts = factsOf(agents, config);
  const checked: CheckedWorkflowFile[] = [];
  for (const name of names) {
    const found = await reading.check(name, facts);
    if (!found) throw missing(name, reading.names);
    checked.push({ name, steps: found.file.names.size, problems: found.problems });
  }
  return wanted.length === 0 ? [...checked, ...odd] : checked;
}

/** What a person means by a word of the command line; a file is taken as it is, wherever it lies. */
async function nameOf(word: string, cwd: string, reading: WorkflowReading): Promise<string> {
  if (!isFile(word)) return word.slice(word.indexOf('/') + 1);
  const path = resolve(cwd, word);
  const read = await readWorkflowText(path);
  if (!read.ok)
    throw new StemmaError('NOT_FOUND', `The file ${word} cannot be read: ${read.why}.`, { id: word });
  const name = basename(path).replace(/\.ya?ml$/, '');
  reading.put(name, word, read.text);
  return name;
}

function isFile(word: string): boolean {
  return /\.ya?ml$/.test(word);
}

function besideFirst(cwd: string, wanted: readonly string[]): string {
  const file = wanted.find(isFile);
  return file === undefined ? resolve(cwd, 'workflows') : dirname(resolve(cwd, file));
}

function unusable(name: string, why: string): CheckedWorkflowFile {
  const problem = { file: name, line: 1, column: 1, key: '', message: why, excerpt: '' };
  return { name, steps: 0, problems: [problem] };
}

function missing(name: string, names: readonly string[]): StemmaError {
  const nearest = findNearest(name, names);
  const there = names.length === 0 ? 'There are none here.' : `There are ${names.slice(0, 20).join(', ')}.`;
  const hint = nearest === undefined ? there : `Did you mean "${nearest}"?`;
  return new StemmaError('NOT_FOUND', `There is no workflow "${name}". ${hint}`, { id: name });
}
