import type { ReactNode } from 'react';
import type { PreviewAnswer } from '../../../../src/contract/schedule.ts';
import { Instant } from '../../ui/instant.tsx';
import { plainBlock } from '../../ui/plain.ts';
import view from '../../ui/view.module.css';
import { diffRows } from './schedule-draft.ts';
import styles from './schedules.module.css';

/** What an edit would make different, and when the schedule would be due then. */
export function ScheduleChange({
  preview,
  isNew,
}: {
  readonly preview: PreviewAnswer;
  readonly isNew: boolean;
}): ReactNode {
  const { before, definition, changed, next, when } = preview;
  return (
    <div className={view.section} role="status">
      {!isNew && changed.length === 0 && <p>Nothing would be different.</p>}
      {changed.length > 0 && (
        <div className={view.scroller}>
          <table className={styles.diff}>
            <caption className={view.quiet}>What would be different</caption>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Now</th>
                <th scope="col">Then</th>
              </tr>
            </thead>
            <tbody>
              {diffRows(changed, before, definition).map((row) => (
                <tr key={row.key}>
                  <th scope="row">{row.key}</th>
                  <td>{row.before === '' ? '–' : <del>− {plainBlock(row.before)}</del>}</td>
                  <td>{row.after === '' ? '–' : <ins>+ {plainBlock(row.after)}</ins>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {when !== undefined && <p>{when}</p>}
      <NextThen next={next} zone={definition.timezone} />
    </div>
  );
}

function NextThen({
  next,
  zone,
}: {
  readonly next: PreviewAnswer['next'];
  readonly zone: string;
}): ReactNode {
  if (next.length === 0)
    return <p className={view.quiet}>It has no instant of its own that is still to come.</p>;
  return (
    <p className={view.quiet}>
      It would be due{' '}
      {next.slice(0, 3).map(({ instant }, index) => (
        <span key={instant}>
          {index > 0 && ', '}
          <Instant at={instant} zone={zone} />
        </span>
      ))}{' '}
      ({zone})…
    </p>
  );
}
