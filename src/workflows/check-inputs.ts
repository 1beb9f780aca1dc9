import type { WorkflowInputSaid } from '../contract/workflow-file.ts';
import { variableOf } from './environment.ts';
import { issueAt } from './issue.ts';
import type { ReadWorkflow, WorkflowIssue } from './read-file.ts';

/** What of the inputs and of the groups makes no sense in itself. */
export function checkInputs({ head }: ReadWorkflow): WorkflowIssue[] {
  const { inputs = {}, groups = {} } = head;
  return [
    ...Object.entries(inputs).flatMap(([name, said]) => inputIssues(['inputs', name], said)),
    ...sameVariable(['inputs'], Object.keys(inputs), (name) => variableOf('INPUT', name)),
    ...Object.entries(groups).flatMap(([group, variables]) => [
      ...sameVariable(['groups', group], Object.keys(variables), (name) => variableOf('GROUP', name)),
      ...Object.entries(variables).flatMap(([name, value]) =>
        value.includes('{{')
          ? [
              issueAt(
                ['groups', group, name],
                'variables of groups have no templates; they are values themselves',
              ),
            ]
          : [],
      ),
    ]),
  ];
}

function inputIssues(path: readonly string[], said: WorkflowInputSaid): WorkflowIssue[] {
  const { type = 'string', default: value, enum: allowed = [], required } = said;
  const ofType = (each: unknown): boolean => typeof each === type;
  const issues = allowed.flatMap((each, index) =>
    ofType(each) ? [] : [issueAt([...path, 'enum', index], `expected a ${type}, as the type says`)],
  );
  if (value === undefined) return issues;
  const at = [...path, 'default'];
  const isFilledIn = typeof value === 'string' && value.includes('{{');
  if (!isFilledIn && !ofType(value)) issues.push(issueAt(at, `expected a ${type}, as the type says`));
  else if (!isFilledIn && allowed.length > 0 && !allowed.includes(value))
    issues.push(issueAt(at, `is none of ${allowed.map(String).join(', ')}`));
  if (required === true)
    issues.push(issueAt([...path, 'required'], 'an input with a default need not be given'));
  return issues;
}

// Environments know no small letters of ours: both would be one variable.
function sameVariable(
  path: readonly string[],
  names: readonly string[],
  of: (name: string) => string,
): WorkflowIssue[] {
  const seen = new Map<string, string>();
  return names.flatMap((name) => {
    const other = seen.get(of(name));
    seen.set(of(name), name);
    return other === undefined
      ? []
      : [issueAt([...path, name], `is ${of(name)} in a shell, as "${other}" is`)];
  });
}
