import { Link } from '@tanstack/react-router';
import { type ReactNode, useId, useState } from 'react';
import type { Holding, MonitorRow } from '../../../../src/contract/execution.ts';
import { stopTree } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { AnswerForm } from '../../ui/answer-form.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { SteerForm } from '../../ui/steer-form.tsx';
import { holdingWords, spentWords, waitingWords } from '../../ui/words.ts';
import { ActivityStrip } from './activity-strip.tsx';
import { needsPerson } from './monitor-rows.ts';
import styles from './monitor.module.css';

/** One live root: what it is, what holds it, and what can be done with it without leaving the list. */
export function LiveRoot({ row }: { readonly row: MonitorRow }): ReactNode {
  const { id, name, state, waiting, sessionId, activity = [] } = row;
  const [isSteering, setSteering] = useState(false);
  const steer = useId();
  const asks = waiting && ['input', 'capacity', 'login'].includes(waiting.for);
  const canSteer = sessionId !== undefined && state === 'running' && !asks;
  return (
    <article className={styles.root} data-needs-person={needsPerson(row) || undefined}>
      <div className={styles.what}>
        <StateMark state={waiting ? 'waiting' : state === 'queued' ? 'queued' : 'running'} />
        <Link to="/roots/$id" params={{ id }} className={styles.name}>
          <bdi>{plainLine(name, 160) || row.kind}</bdi>
        </Link>
      </div>
      <Facts row={row} />
      <div className={styles.does}>
        <ActivityStrip counts={activity} />
        {canSteer && (
          <button
            type="button"
            aria-expanded={isSteering}
            aria-controls={steer}
            onClick={() => setSteering(!isSteering)}
          >
            Steer
          </button>
        )}
        <Action label="Stop" tone="bad" asks="Stop it and everything below it?" run={() => stopTree(id)} />
      </div>
      <p className={styles.held}>
        {waiting && !asks ? waitingWords(waiting) : !asks && <HeldBy holding={row.holding} />}
      </p>
      {asks && (
        <div className={styles.wide}>
          <AnswerForm executionId={id} waiting={waiting} />
        </div>
      )}
      {isSteering && sessionId !== undefined && (
        <div className={styles.wide} id={steer}>
          <SteerForm sessionId={sessionId} />
        </div>
      )}
    </article>
  );
}

function Facts({ row }: { readonly row: MonitorRow }): ReactNode {
  const { createdAt, project, agent, sessionId, schedule, labels = [], open, runId } = row;
  const spent = spentWords(row);
  const [scheduleProject = '', scheduleName = ''] = schedule?.split('/') ?? [];
  return (
    <div className={styles.facts}>
      <Age from={createdAt} />
      {project !== undefined && <span>{plainLine(project, 60)}</span>}
      {sessionId !== undefined && (
        <Link to="/sessions/$id" params={{ id: sessionId }}>
          {agent ?? 'session'}
        </Link>
      )}
      {schedule !== undefined ? (
        <Link to="/schedules/$project/$name" params={{ project: scheduleProject, name: scheduleName }}>
          {scheduleName}
        </Link>
      ) : (
        runId !== undefined && (
          <Link to="/runs/$id" params={{ id: runId }}>
            run
          </Link>
        )
      )}
      {labels.map((label) => (
        <span key={label} className={styles.label}>
          {plainLine(label, 40)}
        </span>
      ))}
      <span>{openWords(open)}</span>
      {spent !== '' && <span>{spent}</span>}
    </div>
  );
}

function HeldBy({ holding }: { readonly holding: readonly Holding[] }): ReactNode {
  const [first, ...others] = holding;
  if (!first) return 'closing';
  return (
    <>
      held by <bdi>{plainLine(first.name ?? first.noticeId ?? first.executionId ?? '', 80)}</bdi> ·{' '}
      {holdingWords(first)} for <Age from={first.since} />
      {others.length > 0 && ` and ${others.length} more`}
    </>
  );
}

function openWords({ executions, notices }: MonitorRow['open']): string {
  const below = executions === 0 ? 'nothing open below' : `${executions.toLocaleString('en')} open below`;
  return notices === 0 ? below : `${below}, ${notices} ${notices === 1 ? 'result' : 'results'} owed`;
}
