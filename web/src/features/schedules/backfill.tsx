import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { BackfillAnswer, Schedule } from '../../../../src/contract/schedule.ts';
import { tell } from '../../live/ask.ts';
import { serverNow } from '../../live/clock.ts';
import { Instant } from '../../ui/instant.tsx';
import { fieldText, instantOfField, personZone } from '../../ui/instants.ts';
import view from '../../ui/view.module.css';
import { schedulePath } from './schedule-actions.tsx';
import styles from './schedules.module.css';

const dayMs = 86_400_000;
/** How many instants of a preview are listed. */
const listed = 500;

/** A range of the past whose instants shall run: first which ones that would be, then they run. */
export function Backfill({
  schedule,
  onEnd,
}: {
  readonly schedule: Schedule;
  readonly onEnd: () => void;
}): ReactNode {
  const [from, setFrom] = useState(() => fieldText(serverNow() - dayMs));
  const [to, setTo] = useState(() => fieldText(serverNow()));
  const range = { from: instantOfField(from), to: instantOfField(to) };
  const look = useMutation({
    mutationFn: () => tell<BackfillAnswer>(schedulePath(schedule, '/backfill'), { ...range, dryRun: true }),
  });
  const run = useMutation({
    mutationFn: () => tell<BackfillAnswer>(schedulePath(schedule, '/backfill'), range),
  });
  const set = (change: () => void): void => {
    change();
    look.reset();
    run.reset();
  };
  const error = look.error ?? run.error;
  const due = look.data?.due ?? [];
  return (
    <form
      className={view.panel}
      aria-label="Backfill"
      onSubmit={(event) => {
        event.preventDefault();
        look.mutate();
      }}
    >
      <h2>Backfill</h2>
      <p className={view.quiet}>
        Instants of the past that have not run, oldest first, one after the other. Times are yours.
      </p>
      <div className={view.fields}>
        <When label="From" value={from} set={(value) => set(() => setFrom(value))} />
        <When label="Before" value={to} set={(value) => set(() => setTo(value))} />
      </div>
      {error && (
        <p className={view.bad} role="alert">
          {error.message}
        </p>
      )}
      {run.data ? (
        <p role="status">{countWords(run.data.due.length)} run now, one after the other.</p>
      ) : (
        look.data && <Preview answer={look.data} zone={schedule.definition.timezone} />
      )}
      <div className={view.buttons}>
        <button type="submit" disabled={look.isPending || range.from === undefined || range.to === undefined}>
          Show which
        </button>
        <button
          type="button"
          data-tone="first"
          disabled={due.length === 0 || run.isPending || run.isSuccess}
          onClick={() => run.mutate()}
        >
          {due.length > 0 && !run.isSuccess
            ? `Run ${due.length === 1 ? 'it' : `these ${due.length}`}`
            : 'Run them'}
        </button>
        <button type="button" onClick={onEnd}>
          Close
        </button>
      </div>
    </form>
  );
}

function When({
  label,
  value,
  set,
}: {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
}): ReactNode {
  return (
    <label className={view.field}>
      {label}
      <input type="datetime-local" value={value} onChange={({ target }) => set(target.value)} />
    </label>
  );
}

function countWords(count: number): string {
  return count === 1 ? '1 instant' : `${count} instants`;
}

function Preview({ answer, zone }: { readonly answer: BackfillAnswer; readonly zone: string }): ReactNode {
  const { due, left } = answer;
  return (
    <div className={view.section} role="status">
      <p>
        {countWords(due.length)} would run{left > 0 && `; ${left} had run already, or are at work`}.
      </p>
      <ol className={styles.instants}>
        {due.slice(0, listed).map(({ instant, was }) => (
          <li key={instant}>
            <Instant at={instant} />
            {zone !== personZone() && (
              <span className={view.quiet}>
                {' '}
                (<Instant at={instant} zone={zone} /> there)
              </span>
            )}
            {was !== undefined && <span className={view.quiet}> (was {was})</span>}
          </li>
        ))}
      </ol>
      {due.length > listed && <p className={view.quiet}>… and {due.length - listed} more</p>}
    </div>
  );
}
