import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { growForest, type TreeNode } from '../../../../src/words/forest.ts';
import { remarksOn, titleOfNode } from '../../../../src/words/tree-words.ts';
import { treeQuery } from '../../live/queries.ts';
import { Age } from '../../ui/age.tsx';
import { AnswerForm } from '../../ui/answer-form.tsx';
import { Answered } from '../../ui/answered.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { holdingWords, shownState } from '../../ui/words.ts';
import { shownNodes } from './compact-nodes.ts';
import styles from './runs.module.css';

/** How many questions are shown at once. */
const mostForms = 5;

/** The tree of a root, as far as it can be read at a glance; the whole is behind the link. */
export function CompactTree({ id }: { readonly id: string }): ReactNode {
  const query = useQuery(treeQuery(id));
  return (
    <Answered query={query} what="the tree">
      {(tree) => {
        const { nodes, left } = shownNodes(growForest(tree));
        const [first] = tree.holding;
        const asking = tree.executions.filter(({ waiting }) => waiting !== undefined).slice(0, mostForms);
        return (
          <div className={view.section}>
            {!tree.closed && first && (
              <p className={view.quiet}>
                held by <bdi>{first.name ?? first.executionId ?? first.noticeId}</bdi> ({holdingWords(first)})
                {tree.holding.length > 1 && ` and ${tree.holding.length - 1} more`}
              </p>
            )}
            <Branches nodes={nodes} isTop />
            {asking.map(({ id: asked, waiting }) =>
              waiting ? <AnswerForm key={asked} executionId={asked} waiting={waiting} /> : null,
            )}
            {left > 0 && (
              <p className={view.quiet}>
                and {left} more:{' '}
                <Link to="/roots/$id" params={{ id }}>
                  the whole tree
                </Link>
              </p>
            )}
          </div>
        );
      }}
    </Answered>
  );
}

function Branches({
  nodes,
  isTop = false,
}: {
  readonly nodes: readonly TreeNode[];
  readonly isTop?: boolean;
}): ReactNode {
  if (nodes.length === 0) return null;
  return (
    <ul className={styles.tree} data-top={isTop || undefined}>
      {nodes.map((node) => {
        const { execution } = node;
        const { id, rootId, createdAt, startedAt, endedAt, closedAt, outcome } = execution;
        const end = outcome === undefined ? endedAt : (closedAt ?? endedAt);
        const remarks = remarksOn(node).map(({ text }) => text);
        return (
          <li key={id}>
            <span className={styles.node}>
              <StateMark state={shownState(execution)} />
              <Link to="/roots/$id" params={{ id: rootId }} search={{ at: id }}>
                <bdi>{titleOfNode(node)}</bdi>
              </Link>
              <span className={view.quiet}>
                <Age from={startedAt ?? createdAt} to={end} />
              </span>
              {remarks.length > 0 && (
                <span className={view.quiet}>
                  <bdi>{remarks.join(' · ')}</bdi>
                </span>
              )}
            </span>
            <Branches nodes={node.children} />
          </li>
        );
      })}
    </ul>
  );
}
