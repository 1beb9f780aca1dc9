import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Execution, TreeView } from '../../../../src/contract/execution.ts';
import { sessionQuery } from '../../live/queries.ts';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import { spentWords, titleOf, usageWords } from '../../ui/words.ts';
import styles from './root.module.css';
import { ToExecution } from './to-execution.tsx';
import type { TraceRow } from './trace.ts';

/** When it was, where it ran, what it used, what it comes from, and who may stop it. */
export function DetailFacts({
  row: { node },
  view,
  onChoose,
}: {
  readonly row: TraceRow & { readonly kind: 'execution' };
  readonly view: TreeView;
  readonly onChoose: (key: string) => void;
}): ReactNode {
  const { execution } = node;
  const { createdAt, startedAt, endedAt, closedAt, deadlineAt, parentId, usage, key } = execution;
  const parent = view.executions.find(({ id }) => id === parentId);
  const used = usageWords(usage);
  const spent = spentWords(execution);
  return (
    <section>
      <h3>Facts</h3>
      <dl className={styles.dl}>
        <Fact name="Registered">
          <At instant={createdAt} />
        </Fact>
        {startedAt !== undefined && (
          <Fact name="Began">
            <At instant={startedAt} />, after <Age from={createdAt} to={startedAt} />
          </Fact>
        )}
        {endedAt !== undefined && (
          <Fact name="Ended itself">
            <At instant={endedAt} />, after <Age from={startedAt ?? createdAt} to={endedAt} />
          </Fact>
        )}
        {closedAt !== undefined && closedAt !== endedAt && (
          <Fact name="Closed">
            <At instant={closedAt} />
            {endedAt !== undefined && (
              <>
                , <Age from={endedAt} to={closedAt} /> later: all below it was closed
              </>
            )}
          </Fact>
        )}
        {deadlineAt !== undefined && (
          <Fact name="Time is up">
            <At instant={deadlineAt} />
          </Fact>
        )}
        <Where execution={execution} />
        {used !== '' && <Fact name="Used itself">{used}</Fact>}
        {spent !== '' && <Fact name="With all below">{spent}</Fact>}
        {parent && (
          <Fact name="Below">
            <ToExecution id={parent.id} onChoose={onChoose}>
              {titleOf(parent)}
            </ToExecution>
            <span className={styles.quiet}> {parentWords[execution.parentSource]}</span>
          </Fact>
        )}
        {key !== undefined && <Fact name="Key">{plainLine(key, 120)}</Fact>}
        <Fact name="May be stopped by">
          <WhoStops execution={execution} />
        </Fact>
      </dl>
    </section>
  );
}

const parentWords: Readonly<Record<Execution['parentSource'], string>> = {
  explicit: '(named by its token)',
  turn: '(its turn made the call)',
  task: '(its background task made the call)',
  none: '',
};

function Where({ execution: { runsIn, reportsTo } }: { readonly execution: Execution }): ReactNode {
  const id = runsIn ?? reportsTo?.sessionId;
  const { data } = useQuery({ ...sessionQuery(id ?? ''), enabled: id !== undefined });
  if (id === undefined) return null;
  return (
    <>
      <Fact name={runsIn === undefined ? 'Reports to' : 'Runs in'}>
        <Link to="/sessions/$id" params={{ id }}>
          {data ? plainLine(data.title ?? data.agent, 80) : 'its session'}
        </Link>
        {data?.title !== undefined && <span className={styles.quiet}> {data.agent}</span>}
      </Fact>
      {runsIn !== undefined && data && (
        <Fact name="Directory">
          <code className={styles.breaks}>{plainLine(data.cwd, 400)}</code>
        </Fact>
      )}
    </>
  );
}

function WhoStops({
  execution: { cancelledBy, runId, parentId },
}: {
  readonly execution: Execution;
}): ReactNode {
  return (
    <>
      a person{parentId !== null && ', the end of its tree'}
      {cancelledBy !== undefined && (
        <>
          ,{' '}
          <Link to="/sessions/$id" params={{ id: cancelledBy }}>
            its session
          </Link>
        </>
      )}
      {runId !== undefined && (
        <>
          ,{' '}
          <Link to="/runs/$id" params={{ id: runId }}>
            its run
          </Link>
        </>
      )}
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function At({ instant }: { readonly instant: string }): ReactNode {
  return <time dateTime={instant}>{new Date(instant).toLocaleString()}</time>;
}
