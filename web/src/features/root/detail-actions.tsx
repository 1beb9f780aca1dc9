import type { ReactNode } from 'react';
import type { Execution } from '../../../../src/contract/execution.ts';
import { stopTree, tell } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { AnswerForm } from '../../ui/answer-form.tsx';
import { SteerForm } from '../../ui/steer-form.tsx';
import styles from './root.module.css';

/** What can be done with one execution, as the server offers it. */
export function DetailActions({ execution }: { readonly execution: Execution }): ReactNode {
  const { id, closed, kind, state, waiting, runsIn, parentId } = execution;
  if (closed) return null;
  const path = `/executions/${encodeURIComponent(id)}`;
  return (
    <div className={styles.detailActions}>
      {waiting && <AnswerForm executionId={id} waiting={waiting} />}
      <div className={styles.actions}>
        <Action label="Stop" tone="bad" asks="Stop it and everything below it?" run={() => stopTree(id)} />
        {parentId !== null && kind !== 'continuation' && (
          <Action
            label="Detach"
            asks="Let it live on without holding the tree?"
            run={() => tell(`${path}/detach`, {})}
          />
        )}
      </div>
      {state === 'running' && !waiting && runsIn !== undefined && <SteerForm sessionId={runsIn} />}
    </div>
  );
}
