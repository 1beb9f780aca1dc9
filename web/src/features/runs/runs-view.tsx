import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import { useTitle } from '../../app/title.ts';
import { runsQuery, scheduleRunsQuery, schedulesQuery } from '../../live/queries.ts';
import { Age } from '../../ui/age.tsx';
import { Answered } from '../../ui/answered.tsx';
import { FromNow } from '../../ui/instant.tsx';
import { Message } from '../../ui/message.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { usageWords } from '../../ui/words.ts';
import { askedState, fittingRuns, progressWords, type RunFilters, shownRun } from './run-rows.ts';
import styles from './runs.module.css';
import { ScheduleLink } from './schedule-link.tsx';

const pageSize = 50;
const most = 500;

/** All runs, newest first. */
export function RunsView(): ReactNode {
  useTitle('Runs');
  const [filters, setFilters] = useState<RunFilters>({ search: '', state: '', project: '', schedule: '' });
  const [limit, setLimit] = useState(pageSize);
  const [cursor, setCursor] = useState<string>();
  const asked = { state: askedState(filters.state), limit, cursor };
  const ofAll = useQuery({ ...runsQuery(asked), enabled: filters.schedule === '' });
  const ofOne = useQuery({ ...scheduleRunsQuery(filters.schedule, asked), enabled: filters.schedule !== '' });
  const change = (next: RunFilters): void => {
    setFilters(next);
    setCursor(undefined);
  };
  return (
    <div className={view.view}>
      <h1>Runs</h1>
      <Filters filters={filters} change={change} />
      <Answered query={filters.schedule === '' ? ofAll : ofOne} what="the runs">
        {({ items, nextCursor }) => (
          <>
            <RunTable runs={fittingRuns(items, filters)} isFiltered={items.length > 0 || isAsked(filters)} />
            <div className={view.buttons}>
              {nextCursor !== undefined && limit < most && (
                <button type="button" onClick={() => setLimit(Math.min(most, limit * 2))}>
                  Show more
                </button>
              )}
              {nextCursor !== undefined && limit >= most && (
                <button type="button" onClick={() => setCursor(nextCursor)}>
                  Older
                </button>
              )}
              {cursor !== undefined && (
                <button type="button" onClick={() => setCursor(undefined)}>
                  Newest
                </button>
              )}
            </div>
          </>
        )}
      </Answered>
    </div>
  );
}

function isAsked({ search, state, project, schedule }: RunFilters): boolean {
  return [search, state, project, schedule].some((one) => one !== '');
}

function Filters({
  filters,
  change,
}: {
  readonly filters: RunFilters;
  readonly change: (filters: RunFilters) => void;
}): ReactNode {
  const schedules = useQuery(schedulesQuery()).data?.items ?? [];
  const names = schedules.map(({ project, name }) => `${project}/${name}`);
  const projects = [...new Set(schedules.map(({ project }) => project))];
  return (
    <form className={view.filters} role="search" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label="Search the runs"
        placeholder="Search"
        value={filters.search}
        onChange={({ target }) => change({ ...filters, search: target.value })}
      />
      <select
        aria-label="State"
        value={filters.state}
        onChange={({ target }) => change({ ...filters, state: target.value })}
      >
        <option value="">all states</option>
        {['running', 'waiting', 'ended', 'failed'].map((state) => (
          <option key={state}>{state}</option>
        ))}
      </select>
      {projects.length > 1 && (
        <select
          aria-label="Project"
          value={filters.project}
          onChange={({ target }) => change({ ...filters, project: target.value })}
        >
          <option value="">all projects</option>
          {projects.map((project) => (
            <option key={project}>{project}</option>
          ))}
        </select>
      )}
      {names.length > 0 && (
        <select
          aria-label="Schedule"
          value={filters.schedule}
          onChange={({ target }) => change({ ...filters, schedule: target.value })}
        >
          <option value="">all schedules</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
    </form>
  );
}

function RunTable({
  runs,
  isFiltered,
}: {
  readonly runs: readonly Run[];
  readonly isFiltered: boolean;
}): ReactNode {
  if (runs.length === 0)
    return isFiltered ? (
      <Message title="No run fits">Change or clear the filters.</Message>
    ) : (
      <Message title="Nothing has run yet">
        <p>
          Begin a sequence with <code>stemma run FILE</code>, trigger one of the{' '}
          <Link to="/schedules">Schedules</Link>, or start one of the <Link to="/workflows">Workflows</Link>.
        </p>
      </Message>
    );
  return (
    <div className={view.scroller}>
      <table>
        <thead>
          <tr>
            {['State', 'Run', 'Progress', 'Begun', 'Took', 'Used', 'From'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunRow({ run }: { readonly run: Run }): ReactNode {
  const { id, name, project, schedule, createdAt, endedAt, waiting, outcomeCode, workflow } = run;
  return (
    <tr>
      <td>
        <StateMark state={shownRun(run)} word />
      </td>
      <td>
        <Link to="/runs/$id" params={{ id }} className={styles.name}>
          <bdi>{plainLine(name ?? workflow?.name ?? id, 80)}</bdi>
        </Link>
        {waiting && <div className={view.quiet}>waits for {plainLine(waiting.text ?? waiting.for, 120)}</div>}
        {outcomeCode !== undefined && outcomeCode !== 'CANCELLED' && (
          <div className={view.bad}>{plainLine(outcomeCode, 80)}</div>
        )}
      </td>
      <td>{progressWords(run)}</td>
      <td>{createdAt !== undefined && <FromNow at={createdAt} />}</td>
      <td>{createdAt !== undefined && <Age from={createdAt} to={endedAt} />}</td>
      <td>{usageWords(run.spent ?? workflow?.usage)}</td>
      <td>
        {schedule === undefined ? (
          <span className={view.quiet}>{project}</span>
        ) : (
          <ScheduleLink full={schedule} />
        )}
      </td>
    </tr>
  );
}
