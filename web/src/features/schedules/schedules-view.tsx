import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Schedule } from '../../../../src/contract/schedule.ts';
import { useTitle } from '../../app/title.ts';
import { schedulesQuery } from '../../live/queries.ts';
import { useWhyNot } from '../../live/who.ts';
import { Answered } from '../../ui/answered.tsx';
import { Message } from '../../ui/message.tsx';
import view from '../../ui/view.module.css';
import { NewSchedule } from './new-schedule.tsx';
import { ScheduleRows } from './schedule-rows.tsx';
import { fittingSchedules } from './schedule-words.ts';
import { StripLegend } from './strip.tsx';

/** All schedules: when each is due, what became of its latest instants, and what can be done with it. */
export function SchedulesView(): ReactNode {
  useTitle('Schedules');
  const query = useQuery(schedulesQuery());
  const [isNew, setNew] = useState(false);
  const whyNot = useWhyNot();
  return (
    <div className={view.view}>
      <div className={view.head}>
        <h1>Schedules</h1>
        <div className={view.actions}>
          <button
            type="button"
            aria-expanded={isNew}
            disabled={whyNot !== undefined}
            title={whyNot}
            onClick={() => setNew(!isNew)}
          >
            New schedule
          </button>
        </div>
      </div>
      {isNew && <NewSchedule onEnd={() => setNew(false)} />}
      <Answered
        query={query}
        what="the schedules"
        isEmpty={({ items }) => items.length === 0}
        empty={<NoSchedules />}
      >
        {({ items }) => <Filtered all={items} />}
      </Answered>
    </div>
  );
}

function Filtered({ all }: { readonly all: readonly Schedule[] }): ReactNode {
  const [filter, setFilter] = useState({ search: '', state: '', project: '' });
  const rows = fittingSchedules(all, filter);
  const projects = [...new Set(all.map(({ project }) => project))];
  return (
    <>
      <form className={view.filters} role="search" onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          aria-label="Search the schedules"
          placeholder="Search"
          value={filter.search}
          onChange={({ target }) => setFilter({ ...filter, search: target.value })}
        />
        <select
          aria-label="State"
          value={filter.state}
          onChange={({ target }) => setFilter({ ...filter, state: target.value })}
        >
          <option value="">all states</option>
          <option>active</option>
          <option>paused</option>
        </select>
        {projects.length > 1 && (
          <select
            aria-label="Project"
            value={filter.project}
            onChange={({ target }) => setFilter({ ...filter, project: target.value })}
          >
            <option value="">all projects</option>
            {projects.map((project) => (
              <option key={project}>{project}</option>
            ))}
          </select>
        )}
        <output>
          {rows.length === all.length ? all.length : `${rows.length} of ${all.length}`} schedules
        </output>
      </form>
      {rows.length === 0 ? (
        <Message title="No schedule fits">Change or clear the filters.</Message>
      ) : (
        <ScheduleRows schedules={rows} />
      )}
      <StripLegend />
    </>
  );
}

function NoSchedules(): ReactNode {
  return (
    <Message title="There are no schedules yet">
      <p>
        Write them into <code>stemma.yaml</code> (<code>stemma init</code> makes one) and run{' '}
        <code>stemma schedule apply</code>, or make one here with “New schedule”.
      </p>
    </Message>
  );
}
