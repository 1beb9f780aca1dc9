import type { Execution } from '../ledger/execution.ts';

/** Puts the executions of one tree depth first, children by age; ids sort by age. What has no parent here comes last. */
export function inTreeOrder(rows: readonly Execution[]): Execution[] {
  const children = new Map<string | null, Execution[]>();
  const known = new Set<string>(rows.map((row) => row.id));
  for (const row of [...rows].sort(byId)) {
    const parent = row.parentId !== null && known.has(row.parentId) ? row.parentId : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(row);
    else children.set(parent, [row]);
  }
  const ordered: Execution[] = [];
  const stack = (children.get(null) ?? []).sort(rootsFirst).reverse();
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    ordered.push(row);
    const below = children.get(row.id);
    if (below) for (let i = below.length - 1; i >= 0; i--) stack.push(below[i] as Execution);
  }
  return ordered;
}

function byId(a: Execution, b: Execution): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function rootsFirst(a: Execution, b: Execution): number {
  return Number(a.parentId !== null) - Number(b.parentId !== null) || byId(a, b);
}
