import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import type { Occurrence } from '../../../../src/contract/schedule.ts';
import { occurrencesQuery, scheduleRunsQuery } from '../../live/queries.ts';
import { Age } from '../../ui/age.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Instant } from '../../ui/instant.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { usageWords } from '../../ui/words.ts';

const states = ['due', 'waiting', 'claimed', 'ran', 'skipped', 'missed', 'expired', 'superseded'];
const pageSize = 50;
const most = 500;

/** What became of each instant, newest first, with the reason and the run. */
export function OccurrenceHistory({
  name,
  zone,
}: {
  readonly name: string;
  readonly zone: string;
}): ReactNode {
  const [state, setState] = useState('');
  const [limit, setLimit] = useState(pageSize);
  const query = useQuery(occurrencesQuery(name, { state, limit }));
  const runs = useQuery(scheduleRunsQuery(name, { limit: Math.min(limit * 2, 200) }));
  const byId = new Map(runs.data?.items.map((run) => [run.id, run]));
  return (
    <section className={view.section} aria-labelledby="history-title">
      <div className={view.filters}>
        <h2 id="history-title">History</h2>
        <select
          aria-label="What became of it"
          value={state}
          onChange={({ target }) => setState(target.value)}
        >
          <option value="">all</option>
          {states.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      <Answered
        query={query}
        what="the history"
        isEmpty={({ items }) => items.length === 0}
        empty={
          <p className={view.quiet}>{state === '' ? 'Nothing has come yet.' : `No instant is ${state}.`}</p>
        }
      >
        {({ items, nextCursor }) => (
          <>
            <div className={view.scroller}>
              <table>
                <thead>
                  <tr>
                    {[`Instant (${zone})`, 'Came to', 'By', 'Reason', 'Run', 'Took', 'Used'].map((title) => (
                      <th key={title} scope="col">
                        {title}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {items.map((one) => (
                    <HistoryRow key={one.id} one={one} run={byId.get(one.runId ?? '')} zone={zone} />
                  ))}
                </tbody>
              </table>
            </div>
            {nextCursor !== undefined && limit < most && (
              <div className={view.buttons}>
                <button type="button" onClick={() => setLimit(Math.min(most, limit * 2))}>
                  Show more
                </button>
              </div>
            )}
          </>
        )}
      </Answered>
    </section>
  );
}

function HistoryRow({
  one,
  run,
  zone,
}: {
  readonly one: Occurrence;
  readonly run: Run | undefined;
  readonly zone: string;
}): ReactNode {
  const { instant, state, trigger, reason, runId } = one;
  return (
    <tr data-occurrence={state}>
      <td>
        <Instant at={instant} zone={zone} />
      </td>
      <td>{state}</td>
      <td>{trigger}</td>
      <td>
        <bdi>{reason === undefined ? '' : plainLine(reason, 200)}</bdi>
      </td>
      <td>
        {runId !== undefined && (
          <Link to="/runs/$id" params={{ id: runId }}>
            <StateMark
              state={run ? (run.outcome ?? (run.state === 'waiting' ? 'waiting' : 'running')) : 'queued'}
              word={run !== undefined}
            />
            {!run && ' open'}
          </Link>
        )}
      </td>
      <td>{run?.createdAt !== undefined && <Age from={run.createdAt} to={run.endedAt} />}</td>
      <td>{usageWords(run?.spent ?? run?.workflow?.usage)}</td>
    </tr>
  );
}
