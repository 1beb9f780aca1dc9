import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { Schedule } from '../../../../src/contract/schedule.ts';
import { occurrencesQuery, scheduleRunsQuery } from '../../live/queries.ts';
import { FromNow, Instant } from '../../ui/instant.tsx';
import { personZone } from '../../ui/instants.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { stripCells } from './occurrence-strip.ts';
import { ScheduleActions } from './schedule-actions.tsx';
import { originWords, ruleWords, workWords } from './schedule-words.ts';
import styles from './schedules.module.css';
import { Strip } from './strip.tsx';

/** About as high as a row is; the real height is measured. */
const rowPixels = 130;
/** How many instants a row shows. */
const shown = 24;

/** Schedules one under the other; however many there are, only those on the screen are drawn and asked about. */
export function ScheduleRows({ schedules }: { readonly schedules: readonly Schedule[] }): ReactNode {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: schedules.length,
    estimateSize: () => rowPixels,
    overscan: 4,
    scrollMargin: top,
    getItemKey: (index) => schedules[index]?.id ?? index,
  });
  return (
    <ul ref={list} className={styles.rows} style={{ height: virtual.getTotalSize() }} aria-label="Schedules">
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const schedule = schedules[index];
        if (!schedule) return null;
        return (
          <li
            key={key}
            data-index={index}
            ref={virtual.measureElement}
            className={styles.row}
            style={{ transform: `translateY(${start - top}px)` }}
            aria-setsize={schedules.length}
            aria-posinset={index + 1}
          >
            <ScheduleRow schedule={schedule} />
          </li>
        );
      })}
    </ul>
  );
}

function ScheduleRow({ schedule }: { readonly schedule: Schedule }): ReactNode {
  const { project, name, state, paused, definition, origin, when } = schedule;
  return (
    <article className={styles.card} data-state={state} aria-label={`${project}/${name}`}>
      <div className={styles.what}>
        <span>
          <Link to="/schedules/$project/$name" params={{ project, name }} className={styles.name}>
            <bdi>
              {project}/{name}
            </bdi>
          </Link>{' '}
          {paused && (
            <span className={view.chip} data-tone="wait">
              paused
            </span>
          )}
        </span>
        <span className={view.facts}>
          {when !== undefined && <span className={styles.when}>{when}</span>}
          <span>{ruleWords(definition)}</span>
          <span>{originWords(origin)}</span>
        </span>
        <span className={view.quiet}>
          <bdi>{workWords(definition)}</bdi>
        </span>
      </div>
      <NextAndLast schedule={schedule} />
      <div className={styles.buttons}>
        <ScheduleActions schedule={schedule} />
      </div>
      <div className={styles.wide}>
        <RowStrip name={`${project}/${name}`} zone={definition.timezone} />
      </div>
    </article>
  );
}

function NextAndLast({ schedule }: { readonly schedule: Schedule }): ReactNode {
  const { next, lastRun, definition, paused } = schedule;
  const isElsewhere = definition.timezone !== personZone();
  return (
    <div className={styles.next}>
      {next === undefined ? (
        <span className={view.quiet}>no next instant</span>
      ) : (
        <span>
          {paused ? 'would be due ' : 'next '}
          <strong>
            <FromNow at={next} />
          </strong>
          , <Instant at={next} />
          {isElsewhere && (
            <span className={view.quiet}>
              {' '}
              (<Instant at={next} zone={definition.timezone} /> there)
            </span>
          )}
        </span>
      )}
      {lastRun ? (
        <span className={view.quiet}>
          last run{' '}
          <StateMark state={lastRun.outcome ?? (lastRun.state === 'waiting' ? 'waiting' : 'running')} word />{' '}
          <Link to="/runs/$id" params={{ id: lastRun.runId }}>
            <FromNow at={lastRun.instant} />
          </Link>
        </span>
      ) : (
        <span className={view.quiet}>has not run yet</span>
      )}
    </div>
  );
}

function RowStrip({ name, zone }: { readonly name: string; readonly zone: string }): ReactNode {
  const occurrences = useQuery(occurrencesQuery(name, { limit: shown }));
  const runs = useQuery(scheduleRunsQuery(name, { limit: shown }));
  const cells = stripCells(occurrences.data?.items ?? [], runs.data?.items ?? [], zone, shown);
  return <Strip cells={cells} label={`The latest instants of ${name}`} />;
}
