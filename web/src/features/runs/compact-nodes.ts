import type { TreeNode } from '../../../../src/words/forest.ts';

/** How many executions of a tree are shown at a glance. */
const mostNodes = 40;

/**
 * The nodes of a tree that are shown at a glance: level by level, so that what is high up is there, and what is at work before what
 * is closed. `left`: how many are not.
 */
export function shownNodes(
  forest: readonly TreeNode[],
  most = mostNodes,
): { readonly nodes: readonly TreeNode[]; readonly left: number } {
  const kept = new Set<TreeNode>();
  let level: readonly TreeNode[] = forest;
  while (level.length > 0 && kept.size < most) {
    const open = level.filter(({ execution }) => !execution.closed);
    const closed = level.filter(({ execution }) => execution.closed);
    for (const node of [...open, ...closed].slice(0, most - kept.size)) kept.add(node);
    level = level.filter((node) => kept.has(node)).flatMap(({ children }) => children);
  }
  const total = forest.reduce((sum, { size }) => sum + size, 0);
  return { nodes: cutTo(forest, kept), left: total - kept.size };
}

function cutTo(nodes: readonly TreeNode[], kept: ReadonlySet<TreeNode>): TreeNode[] {
  return nodes
    .filter((node) => kept.has(node))
    .map((node) => ({ ...node, children: cutTo(node.children, kept) }));
}
