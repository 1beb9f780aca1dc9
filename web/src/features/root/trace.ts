import type { Execution, Notice, TreeView } from '../../../../src/contract/execution.ts';
import type { TreeStep } from '../../../../src/contract/step.ts';
import { growForest, thingOf, type TreeNode } from '../../../../src/words/forest.ts';

/* A tree as the rows of a trace: pure, without a screen. */

/** Which attempt at its thing an execution is, where there is more than one. The attempts stand under each other. */
export interface AttemptPlace {
  readonly number: number;
  readonly of: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

interface RowPlace {
  /** Names the row for as long as its thing is there: the id of an execution, or the workflow and name of a step. */
  readonly key: string;
  /** 0 at the top. */
  readonly depth: number;
  /** The row of what it is below; -1 at the top. */
  readonly parent: number;
  /** The row behind the last one below it. */
  readonly end: number;
  /** Its place among its siblings, from 1, and how many those are. */
  readonly position: number;
  readonly siblings: number;
}

/** One row: an execution, or a step of a workflow that has no attempt at work. */
export type TraceRow = RowPlace &
  (
    | { readonly kind: 'execution'; readonly node: TreeNode; readonly attempts: AttemptPlace | undefined }
    | { readonly kind: 'step'; readonly step: TreeStep }
  );

/** A child's end, and the continuation that handled its result. */
export interface Handling {
  /** Rows. */
  readonly from: number;
  readonly to: number;
  readonly notice: Notice;
}

/** A tree as rows, depth first, and the times between which all of it is; UTC milliseconds. */
export interface Trace {
  readonly rows: readonly TraceRow[];
  /** The row of each key. */
  readonly at: ReadonlyMap<string, number>;
  readonly handlings: readonly Handling[];
  readonly startsAt: number;
  /** The latest that is known to have happened. */
  readonly latestAt: number;
  /** Undefined while it is open. */
  readonly endsAt: number | undefined;
}

/** The rows of a tree. */
export function traceOf(view: TreeView): Trace {
  const rows = rowsOf(growForest(view));
  const at = new Map(rows.map(({ key }, index) => [key, index]));
  const handlings = view.notices.flatMap((notice) => {
    const from = at.get(notice.executionId);
    const to = notice.continuationId === undefined ? undefined : at.get(notice.continuationId);
    return from === undefined || to === undefined ? [] : [{ from, to, notice }];
  });
  return { rows, at, handlings, ...spanOf(view) };
}

function spanOf({ executions, closed }: TreeView): Pick<Trace, 'startsAt' | 'latestAt' | 'endsAt'> {
  let startsAt = Number.POSITIVE_INFINITY;
  let latestAt = 0;
  for (const { createdAt, startedAt, endedAt, closedAt } of executions) {
    startsAt = Math.min(startsAt, Date.parse(createdAt));
    latestAt = Math.max(latestAt, Date.parse(closedAt ?? endedAt ?? startedAt ?? createdAt));
  }
  if (executions.length === 0) startsAt = 0;
  return { startsAt, latestAt, endsAt: closed ? latestAt : undefined };
}

type Draft = TraceRow & { end: number };

// Not recursive: a tree may be a thousand deep.
function rowsOf(forest: readonly TreeNode[]): TraceRow[] {
  const rows: Draft[] = [];
  const walks: Walk[] = [walk(forest, [], -1)];
  for (let top = walks.at(-1); top !== undefined; top = walks.at(-1)) {
    const { siblings, steps, parent } = top;
    const place = {
      depth: walks.length - 1,
      parent,
      end: rows.length + 1,
      siblings: siblings.length + steps.length,
    };
    const next = siblings[top.next];
    if (next) {
      top.next++;
      const { execution } = next;
      const attempts = top.attempts.get(execution);
      rows.push({ ...place, key: execution.id, position: top.next, kind: 'execution', node: next, attempts });
      walks.push(walk(next.children, next.steps, rows.length - 1));
      continue;
    }
    for (const [index, step] of steps.entries())
      rows.push({
        ...place,
        key: stepKey(step),
        end: rows.length + 1,
        position: siblings.length + index + 1,
        kind: 'step',
        step,
      });
    walks.pop();
    const above = rows[parent];
    if (above) above.end = rows.length;
  }
  return rows;
}

interface Walk {
  readonly siblings: readonly TreeNode[];
  readonly attempts: ReadonlyMap<Execution, AttemptPlace>;
  readonly steps: readonly TreeStep[];
  readonly parent: number;
  next: number;
}

function walk(children: readonly TreeNode[], steps: readonly TreeStep[], parent: number): Walk {
  return { ...groupAttempts(children), steps, parent, next: 0 };
}

/** Puts the attempts at one thing under each other, where the first of them stands. */
function groupAttempts(children: readonly TreeNode[]): Pick<Walk, 'siblings' | 'attempts'> {
  const attempts = new Map<Execution, AttemptPlace>();
  if (!children.some(({ isRetried }) => isRetried)) return { siblings: children, attempts };
  const things = new Map<string, TreeNode[]>();
  for (const node of children) {
    const thing = thingOf(node.execution);
    const others = things.get(thing);
    if (others) others.push(node);
    else things.set(thing, [node]);
  }
  for (const group of things.values()) {
    if (!group[0]?.isRetried) continue;
    for (const [index, { execution }] of group.entries())
      attempts.set(execution, {
        number: execution.attempt,
        of: group.length,
        isFirst: index === 0,
        isLast: index === group.length - 1,
      });
  }
  return { siblings: [...things.values()].flat(), attempts };
}

function stepKey({ workflowId, name }: TreeStep): string {
  return `${workflowId} ${name}`;
}
