import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Execution, TreeView } from '../../../../src/contract/execution.ts';
import { stopTree, tell } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { shownState, spentWords } from '../../ui/words.ts';
import styles from './root.module.css';

/** What the tree is about, how it stands, and what can be done with all of it. */
export function RootHeader({ root, view }: { readonly root: Execution; readonly view: TreeView }): ReactNode {
  const { executions, closed } = view;
  const open = executions.filter((execution) => !execution.closed).length;
  const failed = executions.filter(({ state }) => state === 'failed' || state === 'lost').length;
  const spent = spentWords(root);
  return (
    <header className={styles.header}>
      <h1>
        <bdi>{plainLine(root.name, 300) || root.kind}</bdi>
      </h1>
      <div className={styles.facts}>
        <StateMark state={shownState(root)} word />
        {root.outcomeCode !== undefined && root.outcomeCode !== 'CANCELLED' && (
          <span className={styles.bad}>{root.outcomeCode}</span>
        )}
        <span>
          <Age from={root.createdAt} to={root.closedAt} />
        </span>
        <span>
          {executions.length.toLocaleString('en')}
          {view.isCut ? ' and more' : ''} {executions.length === 1 ? 'execution' : 'executions'}
          {open > 0 && `, ${open.toLocaleString('en')} open`}
          {failed > 0 && `, ${failed.toLocaleString('en')} failed`}
        </span>
        {spent !== '' && <span>{spent}</span>}
        {root.runsIn !== undefined && (
          <Link to="/sessions/$id" params={{ id: root.runsIn }}>
            session
          </Link>
        )}
        {root.runId !== undefined && (
          <Link to="/runs/$id" params={{ id: root.runId }}>
            run{root.runIndex === undefined ? '' : `, message ${root.runIndex + 1}`}
          </Link>
        )}
      </div>
      <div className={styles.actions}>
        {!closed && (
          <Action
            label="Stop"
            tone="bad"
            asks="Stop it and everything below it?"
            run={() => stopTree(root.id)}
          />
        )}
        {canRetry(root) && (
          <Action
            label="Retry"
            asks="Go on with its run, from what failed?"
            run={() => tell(`/runs/${root.runId}/resume`, {})}
          />
        )}
      </div>
    </header>
  );
}

/** What a run sent and what failed is tried again by its run, as an attempt of its own. */
function canRetry({ runId, closed, outcome }: Execution): boolean {
  return closed && outcome !== 'succeeded' && runId !== undefined;
}
