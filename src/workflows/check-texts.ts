import { takeApart, type TemplateIssue } from '../schedules/templates.ts';
import { referencesOf } from './condition.ts';
import { parseCondition } from './condition-syntax.ts';
import { variableOf } from './environment.ts';
import type { WorkflowFacts } from './facts.ts';
import { issuesOfEach } from './issue.ts';
import type { Upstream } from './needs.ts';
import type { ReadWorkflow, WorkflowIssue } from './read-file.ts';
import { parseText, readReference } from './reference.ts';
import { checkReference, type Scope } from './check-references.ts';
import { type SaidText, saidTexts } from './said-texts.ts';

/** What is wrong with the texts of a workflow: templates and conditions that say nothing, or name what is not there. */
export function checkTexts(file: ReadWorkflow, facts: WorkflowFacts, upstream: Upstream): WorkflowIssue[] {
  const { head, steps } = file;
  const of = (scope: Omit<Scope, 'file' | 'facts' | 'upstream'>): Scope => ({
    file,
    facts,
    upstream,
    ...scope,
  });
  const ofSteps = issuesOfEach(steps, ([name, step]) =>
    saidTexts(step).flatMap((said) => {
      const scope = of({ at: 'step', step: name, ...(said.of === undefined ? {} : { of: said.of }) });
      return issuesOf(said, scope).map((found) => ({ ...found, path: ['steps', name, ...found.path] }));
    }),
  );
  const all = (at: Scope['at'], path: string[], text: string) =>
    issuesOf({ path, text, as: 'text' }, of({ at }));
  return [
    ...(head.cwd === undefined ? [] : all('head', ['cwd'], head.cwd)),
    ...Object.entries(head.env ?? {}).flatMap(([name, text]) => all('head', ['env', name], text)),
    ...Object.entries(head.outputs ?? {}).flatMap(([name, text]) => all('end', ['outputs', name], text)),
    ...Object.entries(head.inputs ?? {}).flatMap(([name, { default: said }]) =>
      typeof said === 'string' ? all('default', ['inputs', name, 'default'], said) : [],
    ),
    ...ofSteps,
  ];
}

function issuesOf(said: SaidText, scope: Scope): WorkflowIssue[] {
  if (said.as === 'shell') return shellIssues(said, scope);
  const parsed = said.as === 'condition' ? parseCondition(said.text) : parseText(said.text);
  if (!parsed.ok) return parsed.issues.map((found) => placed(said, found));
  const references =
    'condition' in parsed
      ? referencesOf(parsed.condition)
      : parsed.parts.filter((part) => part.is === 'reference');
  return references.flatMap((reference) => {
    const found = checkReference(reference, scope);
    return found ? [issue(said, `{{${reference.name}}}: ${found.message}`, found.nearest)] : [];
  });
}

/** What other programs put in braces is theirs; what is a template of ours, or nearly one, was meant as one. */
function shellIssues(said: SaidText, scope: Scope): WorkflowIssue[] {
  const found: WorkflowIssue[] = [];
  takeApart(said.text, (name) => {
    const read = readReference(name);
    if (!('message' in read) || read.nearest !== undefined)
      found.push(
        issue(said, `{{${name}}} is not filled in here, since this goes to a shell; ${instead(read, scope)}`),
      );
    return { is: 'text', text: '' };
  });
  return found;
}

function instead(read: ReturnType<typeof readReference>, { file, step, of }: Scope): string {
  const target = 'target' in read ? read.target : undefined;
  if (target?.is === 'input') return `write "$${variableOf('INPUT', target.name)}"`;
  if (target?.is === 'group') return `write "$${variableOf('GROUP', target.name)}"`;
  if (target?.is === 'row' && of === 'messageOfRow')
    return `write "$${variableOf('ROW', String(target.path[0] ?? ''))}"`;
  const isScript = step !== undefined && file.steps.get(step)?.type === 'script';
  return isScript
    ? 'give it as a variable, as in env: { VALUE: "{{…}}" }, and write "$VALUE"'
    : 'let a script step before it write the value to a file';
}

function placed(said: SaidText, { line, column, message, nearest }: TemplateIssue): WorkflowIssue {
  const at = said.text.includes('\n') ? `line ${line}, character ${column} of the text: ` : '';
  return issue(said, `${at}${message.replace(/\.$/, '')}`, nearest);
}

function issue({ path }: SaidText, message: string, nearest?: string): WorkflowIssue {
  return { path, message, unknownKeys: [], ...(nearest === undefined ? {} : { nearest }) };
}
