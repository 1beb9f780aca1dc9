import type { ReactNode } from 'react';
import type { Notice, TreeView } from '../../../../src/contract/execution.ts';
import { tell } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import { titleOf } from '../../ui/words.ts';
import { ToExecution } from './to-execution.tsx';
import styles from './root.module.css';
import type { TraceRow } from './trace.ts';

/** What became of its results, and of which results it is the continuation. */
export function DetailNotices({
  row: { node },
  view,
  onChoose,
}: {
  readonly row: TraceRow & { readonly kind: 'execution' };
  readonly view: TreeView;
  readonly onChoose: (key: string) => void;
}): ReactNode {
  const { owes, handles } = node;
  return (
    <>
      {handles.length > 0 && (
        <section>
          <h3>Handles the {handles.length === 1 ? 'result' : 'results'} of</h3>
          <ul className={styles.plainList}>
            {handles.slice(0, 50).map((execution) => (
              <li key={execution.id}>
                <ToExecution id={execution.id} onChoose={onChoose}>
                  {titleOf(execution)}
                </ToExecution>{' '}
                <span className={styles.quiet}>{execution.state}</span>
              </li>
            ))}
          </ul>
          {handles.length > 50 && <p className={styles.quiet}>and {handles.length - 50} more</p>}
        </section>
      )}
      {owes.map((notice) => (
        <OneNotice key={notice.id} notice={notice} view={view} onChoose={onChoose} />
      ))}
    </>
  );
}

const said: Readonly<Record<Notice['state'], string>> = {
  owed: 'The agent is told of its result next.',
  claimed: 'Its result is on its way to the agent.',
  handed: 'The agent has its result, and handles it.',
  handled: 'The agent has handled its result.',
  waived: 'Its result was waived: nobody is told.',
};

function OneNotice({
  notice,
  view,
  onChoose,
}: {
  readonly notice: Notice;
  readonly view: TreeView;
  readonly onChoose: (key: string) => void;
}): ReactNode {
  const { id, state, attempt, continuationId, reason, actor, owedAt, handedAt, handledAt } = notice;
  const continuation = view.executions.find((execution) => execution.id === continuationId);
  const path = `/notices/${encodeURIComponent(id)}`;
  const why = [reason, actor === undefined ? undefined : `by ${actor}`].filter((each) => each !== undefined);
  return (
    <section>
      <h3>Its result</h3>
      <p>
        {said[state]}
        {attempt > 0 && ` It was delivered ${attempt + 1} times.`}
        {why.length > 0 && <> {plainLine(why.join(', '))}.</>}
      </p>
      <p className={styles.quiet}>
        owed <Age from={owedAt} /> ago
        {handedAt !== undefined && (
          <>
            , handed over after <Age from={owedAt} to={handedAt} />
          </>
        )}
        {handedAt !== undefined && handledAt !== undefined && (
          <>
            , handled in <Age from={handedAt} to={handledAt} />
          </>
        )}
      </p>
      {continuationId !== undefined && (
        <p>
          In{' '}
          <ToExecution id={continuationId} onChoose={onChoose}>
            {continuation ? titleOf(continuation) : continuationId}
          </ToExecution>
        </p>
      )}
      {(state === 'owed' || state === 'claimed') && (
        <div className={styles.actions}>
          <Action
            label="Waive"
            asks="Give up telling the agent of this result?"
            run={() => tell(`${path}/waive`, { reason: 'waived on the page' })}
          />
          <Action label="Deliver now" run={() => tell(`${path}/redeliver`, {})} />
        </div>
      )}
    </section>
  );
}
