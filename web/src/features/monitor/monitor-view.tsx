import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { MonitorRow } from '../../../../src/contract/execution.ts';
import { useTitle } from '../../app/title.ts';
import { executionsQuery, monitorQuery } from '../../live/queries.ts';
import { Answered } from '../../ui/answered.tsx';
import { Message } from '../../ui/message.tsx';
import { plainLine } from '../../ui/plain.ts';
import { LiveRoots } from './live-roots.tsx';
import { choicesOf, type MonitorFilter, monitorRows, needsPerson } from './monitor-rows.ts';
import styles from './monitor.module.css';
import { RecentRoots } from './recent-roots.tsx';

/** What runs now, what needs a person first, and what holds each. */
export function MonitorView(): ReactNode {
  const live = useQuery(monitorQuery());
  const recent = useQuery(executionsQuery({ limit: 100 }));
  const waiting = live.data?.items.filter(needsPerson).length ?? 0;
  useTitle(waiting > 0 ? `(${waiting}) needs you` : 'Monitor');
  return (
    <div className={styles.monitor}>
      <section aria-labelledby="live-title">
        <h1 id="live-title">What runs</h1>
        <Answered
          query={live}
          what="what runs"
          isEmpty={({ items }) => items.length === 0}
          empty={<NothingRuns />}
        >
          {({ items, nextCursor }) => <Filtered all={items} isCut={nextCursor !== undefined} />}
        </Answered>
      </section>
      <section aria-labelledby="recent-title">
        <h2 id="recent-title">Just ended</h2>
        <Answered query={recent} what="what has ended">
          {({ items }) => <RecentRoots executions={items} />}
        </Answered>
      </section>
    </div>
  );
}

const everything: MonitorFilter = { search: '', agent: '', project: '', label: '', onlyNeedsPerson: false };

function Filtered({
  all,
  isCut,
}: {
  readonly all: readonly MonitorRow[];
  readonly isCut: boolean;
}): ReactNode {
  const [filter, setFilter] = useState(everything);
  const rows = useMemo(() => monitorRows(all, filter), [all, filter]);
  const count = rows.length === all.length ? `${all.length}` : `${rows.length} of ${all.length}`;
  return (
    <>
      <form className={styles.filters} role="search" onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          aria-label="Search what runs"
          placeholder="Search"
          value={filter.search}
          onChange={({ target }) => setFilter({ ...filter, search: target.value })}
        />
        <Choices all={all} filter={filter} setFilter={setFilter} />
        <label>
          <input
            type="checkbox"
            checked={filter.onlyNeedsPerson}
            onChange={({ target }) => setFilter({ ...filter, onlyNeedsPerson: target.checked })}
          />{' '}
          needs a person
        </label>
        <output>
          {count} live{isCut ? ' (the oldest are looked at)' : ''}
        </output>
      </form>
      {rows.length === 0 ? (
        <Message title="Nothing that runs fits">
          <button type="button" onClick={() => setFilter(everything)}>
            Show everything
          </button>
        </Message>
      ) : (
        <LiveRoots rows={rows} />
      )}
    </>
  );
}

/** A choice among what there is, of each kind of which there is more than one. */
function Choices({
  all,
  filter,
  setFilter,
}: {
  readonly all: readonly MonitorRow[];
  readonly filter: MonitorFilter;
  readonly setFilter: (filter: MonitorFilter) => void;
}): ReactNode {
  const choices = useMemo(() => choicesOf(all), [all]);
  return (['agent', 'project', 'label'] as const).map((kind) => {
    const words = choices[kind];
    const isOffered = filter[kind] !== '' || words.length > (kind === 'label' ? 0 : 1);
    return (
      isOffered && (
        <select
          key={kind}
          aria-label={`Only this ${kind}`}
          value={filter[kind]}
          onChange={({ target }) => setFilter({ ...filter, [kind]: target.value })}
        >
          <option value="">all {kind}s</option>
          {words.map((word) => (
            <option key={word} value={word}>
              {plainLine(word, 60)}
            </option>
          ))}
        </select>
      )
    );
  });
}

function NothingRuns(): ReactNode {
  return (
    <Message title="Nothing runs">
      <p>
        Send a message with <code>stemma send "…"</code>, a sequence with <code>stemma run FILE</code>, or
        look at what is due under <Link to="/schedules">Schedules</Link>.
      </p>
    </Message>
  );
}
