import type { Execution, Notice, TreeView } from '../contract/execution.ts';
import type { TreeStep } from '../contract/step.ts';

/** An execution with what is below it, and with the notices that concern it. */
export interface TreeNode {
  readonly execution: Execution;
  readonly children: readonly TreeNode[];
  /** Its own results owed to a session. */
  readonly owes: readonly Notice[];
  /** The executions whose results it handles: only a continuation has any. */
  readonly handles: readonly Execution[];
  /** Of a workflow: its steps that have no attempt at work, in the order of its file. */
  readonly steps: readonly TreeStep[];
  /** Whether its attempt number tells it from another one of the same thing. */
  readonly isRetried: boolean;
  /** How many executions there are in this node and below. */
  readonly size: number;
}

/**
 * The trees of a view, children in the order of their birth. An execution whose parent is not in the view (the server
 * was asked for less, or a client is newer than its server) stands at the top instead of vanishing.
 */
export function growForest(view: TreeView): TreeNode[] {
  const byId = new Map(view.executions.map((execution) => [execution.id, execution]));
  const children = new Map<string | null, Execution[]>();
  for (const execution of [...view.executions].sort(byBirth)) {
    const isTop = execution.parentId === null || !byId.has(execution.parentId);
    append(children, isTop ? null : execution.parentId, execution);
  }
  const owes = new Map<string, Notice[]>();
  const handles = new Map<string, Execution[]>();
  for (const notice of [...view.notices].sort((a, b) => compare(a.owedAt, b.owedAt) || compare(a.id, b.id))) {
    const about = byId.get(notice.executionId);
    append(owes, notice.executionId, notice);
    if (notice.continuationId !== undefined && about) append(handles, notice.continuationId, about);
  }
  const steps = new Map<string, TreeStep[]>();
  for (const step of view.steps ?? []) append(steps, step.workflowId, step);
  return grow({ children, owes, handles, steps }, null);
}

interface Index {
  readonly children: ReadonlyMap<string | null, readonly Execution[]>;
  readonly owes: ReadonlyMap<string, readonly Notice[]>;
  readonly handles: ReadonlyMap<string, readonly Execution[]>;
  readonly steps: ReadonlyMap<string, readonly TreeStep[]>;
}

// Recursive: the server bounds the depth of a tree (1,000).
function grow(index: Index, parentId: string | null): TreeNode[] {
  const siblings = index.children.get(parentId) ?? [];
  const attempts = attemptsAmong(siblings);
  return siblings.map((execution) => {
    const children = grow(index, execution.id);
    return {
      execution,
      children,
      owes: index.owes.get(execution.id) ?? [],
      handles: index.handles.get(execution.id) ?? [],
      steps: index.steps.get(execution.id) ?? [],
      isRetried: (attempts.get(thingOf(execution))?.size ?? 0) > 1,
      size: children.reduce((sum, child) => sum + child.size, 1),
    };
  });
}

/** The numbers of the attempts at each thing. */
function attemptsAmong(siblings: readonly Execution[]): Map<string, Set<number>> {
  const attempts = new Map<string, Set<number>>();
  for (const execution of siblings) {
    const thing = thingOf(execution);
    const numbers = attempts.get(thing);
    if (numbers) numbers.add(execution.attempt);
    else attempts.set(thing, new Set([execution.attempt]));
  }
  return attempts;
}

/** What an execution is an attempt at, among its siblings. */
export function thingOf({ kind, key, name }: Execution): string {
  return `${kind} ${key ?? name}`;
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function byBirth(left: Execution, right: Execution): number {
  return compare(left.createdAt, right.createdAt) || compare(left.id, right.id);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
