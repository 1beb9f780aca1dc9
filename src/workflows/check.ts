import { checkCalls } from './check-calls.ts';
import { checkInputs } from './check-inputs.ts';
import { checkReach } from './check-reach.ts';
import { checkSteps } from './check-steps.ts';
import { checkTexts } from './check-texts.ts';
import type { WorkflowFacts } from './facts.ts';
import { mostIssues } from './issue.ts';
import { needsOf, orderOf, Upstream } from './needs.ts';
import type { ReadWorkflow, WorkflowIssue } from './read-file.ts';

/**
 * Everything that is wrong with a workflow file: what could not be read of it, and what of the rest makes no sense
 * together, or with what else there is. What depends on something that could not be read is not told.
 */
export function checkWorkflow(file: ReadWorkflow, facts: WorkflowFacts): WorkflowIssue[] {
  const needs = needsOf(file);
  const upstream = new Upstream(needs, orderOf(needs).order);
  return [
    ...file.issues,
    ...checkInputs(file),
    ...checkSteps(file, facts),
    ...checkReach(file),
    ...checkCalls(file, facts),
    ...checkTexts(file, facts, upstream),
  ].slice(0, mostIssues);
}
