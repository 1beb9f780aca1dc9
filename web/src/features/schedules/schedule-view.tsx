import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { Schedule } from '../../../../src/contract/schedule.ts';
import { useTitle } from '../../app/title.ts';
import { occurrencesQuery, scheduleQuery, scheduleRunsQuery } from '../../live/queries.ts';
import { useWhyNot } from '../../live/who.ts';
import { tell } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { Answered } from '../../ui/answered.tsx';
import { FromNow } from '../../ui/instant.tsx';
import { plainLine } from '../../ui/plain.ts';
import view from '../../ui/view.module.css';
import { Backfill } from './backfill.tsx';
import { NextInstants } from './next-instants.tsx';
import { OccurrenceHistory } from './occurrence-history.tsx';
import { stripCells } from './occurrence-strip.ts';
import { ScheduleActions, schedulePath } from './schedule-actions.tsx';
import { draftOf } from './schedule-draft.ts';
import { ScheduleEditor } from './schedule-editor.tsx';
import { ScheduleSays } from './schedule-says.tsx';
import { originWords } from './schedule-words.ts';
import styles from './schedules.module.css';
import { Strip, StripLegend } from './strip.tsx';

// What draws weighs more than everything else here.
const RunChart = lazy(() => import('./run-chart.tsx').then(({ RunChart }) => ({ default: RunChart })));

/** One schedule: when it is due, what became of its instants, what its runs took, and what can be done with it. */
export function ScheduleView(): ReactNode {
  const { project, name } = useParams({ from: '/schedules/$project/$name' });
  useTitle(`${project}/${name}`);
  const query = useQuery(scheduleQuery(`${project}/${name}`));
  return (
    <Answered query={query} what="the schedule">
      {(schedule) => <Shown schedule={schedule} key={schedule.id} />}
    </Answered>
  );
}

function Shown({ schedule }: { readonly schedule: Schedule }): ReactNode {
  const full = `${schedule.project}/${schedule.name}`;
  const [open, setOpen] = useState<'edit' | 'backfill'>();
  return (
    <div className={view.view}>
      <Head schedule={schedule} open={open} setOpen={setOpen} />
      {open === 'backfill' && <Backfill schedule={schedule} onEnd={() => setOpen(undefined)} />}
      {open === 'edit' && (
        <section className={view.panel} aria-label="Edit">
          <h2>Edit</h2>
          <ScheduleEditor
            named={schedule}
            before={schedule.definition}
            first={draftOf(schedule.definition)}
            onEnd={() => setOpen(undefined)}
          />
        </section>
      )}
      <Instants name={full} zone={schedule.definition.timezone} />
      <div className={styles.columns}>
        <NextInstants name={full} />
        <RunTimes name={full} />
      </div>
      <OccurrenceHistory name={full} zone={schedule.definition.timezone} />
      <ScheduleSays definition={schedule.definition} />
    </div>
  );
}

function Head({
  schedule,
  open,
  setOpen,
}: {
  readonly schedule: Schedule;
  readonly open: 'edit' | 'backfill' | undefined;
  readonly setOpen: (open: 'edit' | 'backfill' | undefined) => void;
}): ReactNode {
  const navigate = useNavigate();
  const { project, name, paused, origin, state, when } = schedule;
  const remove = async (): Promise<void> => {
    await tell(schedulePath(schedule), {}, { method: 'DELETE' });
    await navigate({ to: '/schedules' });
  };
  return (
    <header className={view.section}>
      <div className={view.head}>
        <h1>
          <bdi>
            {project}/{name}
          </bdi>
        </h1>
        <span className={view.chip} data-tone={state === 'active' ? undefined : 'wait'}>
          {state}
        </span>
        <span className={view.chip}>{originWords(origin)}</span>
        <div className={view.actions}>
          <ScheduleActions
            schedule={schedule}
            onTriggered={({ runId }) => void navigate({ to: '/runs/$id', params: { id: runId } })}
          />
          <Opener what="backfill" label="Backfill…" open={open} setOpen={setOpen} />
          <Opener
            what="edit"
            label="Edit…"
            open={open}
            setOpen={setOpen}
            whyNot={
              origin === 'file'
                ? 'It comes from a file: change it there, then run "stemma schedule apply".'
                : undefined
            }
          />
          <Action
            label="Stop its runs"
            tone="bad"
            asks="Cancel its runs and give up what waits?"
            run={() => tell(schedulePath(schedule, '/stop'), { reason: 'stopped on the page' })}
          />
          <Action label="Remove" tone="bad" asks={removeWords(origin)} run={remove} />
        </div>
      </div>
      {when !== undefined && <p>{when}</p>}
      {paused && (
        <p className={view.quiet}>
          Paused <FromNow at={paused.since} />
          {paused.reason !== undefined && <>: {plainLine(paused.reason)}</>}. Its instants are skipped until
          it is resumed; none is made up for.
        </p>
      )}
      {origin === 'file' && (
        <p className={view.quiet}>
          A file holds it: edit it there and run <code>stemma schedule apply</code>. Pausing and triggering
          work here.
        </p>
      )}
    </header>
  );
}

function removeWords(origin: Schedule['origin']): string {
  return origin === 'file'
    ? 'Remove it? It comes back with the next apply unless it is taken out of the file too.'
    : 'Remove it? A run that is at work goes on.';
}

function Opener({
  what,
  label,
  open,
  setOpen,
  whyNot,
}: {
  readonly what: 'edit' | 'backfill';
  readonly label: string;
  readonly open: 'edit' | 'backfill' | undefined;
  readonly setOpen: (open: 'edit' | 'backfill' | undefined) => void;
  readonly whyNot?: string | undefined;
}): ReactNode {
  const mayNot = useWhyNot();
  const why = mayNot ?? whyNot;
  return (
    <button
      type="button"
      aria-expanded={open === what}
      disabled={why !== undefined}
      title={why}
      onClick={() => setOpen(open === what ? undefined : what)}
    >
      {label}
    </button>
  );
}

/** How many instants the strip shows. */
const shown = 90;

function Instants({ name, zone }: { readonly name: string; readonly zone: string }): ReactNode {
  const occurrences = useQuery(occurrencesQuery(name, { limit: shown }));
  const runs = useQuery(scheduleRunsQuery(name, { limit: 100 }));
  return (
    <section className={view.section} aria-labelledby="strip-title">
      <h2 id="strip-title">Latest instants</h2>
      <Answered
        query={occurrences}
        what="the instants"
        isEmpty={({ items }) => items.length === 0}
        empty={<p className={view.quiet}>None has come yet. “Trigger” begins a run now.</p>}
      >
        {({ items }) => (
          <>
            <Strip
              cells={stripCells(items, runs.data?.items ?? [], zone, shown)}
              label={`The latest instants of ${name}`}
            />
            <StripLegend />
          </>
        )}
      </Answered>
    </section>
  );
}

function RunTimes({ name }: { readonly name: string }): ReactNode {
  const runs = useQuery(scheduleRunsQuery(name, { limit: 100 }));
  return (
    <section className={view.section} aria-labelledby="times-title">
      <h2 id="times-title">Run time and cost</h2>
      <Answered
        query={runs}
        what="the runs"
        isEmpty={({ items }) => !items.some(({ endedAt }) => endedAt !== undefined)}
        empty={<p className={view.quiet}>Shown when the first run has ended.</p>}
      >
        {({ items }) => (
          <Suspense fallback={<p role="status">Loading the plot…</p>}>
            <RunChart runs={items} />
          </Suspense>
        )}
      </Answered>
    </section>
  );
}
