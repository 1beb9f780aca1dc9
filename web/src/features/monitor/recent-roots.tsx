import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Execution } from '../../../../src/contract/execution.ts';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { shownState } from '../../ui/words.ts';
import styles from './monitor.module.css';

/** How many are shown: who wants more finds it under Runs. */
const shown = 20;

/** Roots that have closed, the latest first. */
export function RecentRoots({ executions }: { readonly executions: readonly Execution[] }): ReactNode {
  const roots = executions
    .filter(({ parentId, closed }) => parentId === null && closed)
    .sort((left, right) => (right.closedAt ?? '').localeCompare(left.closedAt ?? ''))
    .slice(0, shown);
  if (roots.length === 0) return <p className={styles.recentEmpty}>Nothing has ended lately.</p>;
  return (
    <ul className={styles.recent}>
      {roots.map((execution) => (
        <li key={execution.id}>
          <StateMark state={shownState(execution)} word />
          <Link to="/roots/$id" params={{ id: execution.id }}>
            <bdi>{plainLine(execution.name, 120)}</bdi>
          </Link>
          <span className={styles.facts}>
            <Age from={execution.createdAt} to={execution.closedAt} />
            {execution.closedAt !== undefined && (
              <span>
                <Age from={execution.closedAt} /> ago
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
