import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { legend, type StripCell } from './occurrence-strip.ts';
import styles from './schedules.module.css';

/**
 * The latest instants of a schedule in a row, the oldest first. Each says on hover and on focus what became of it and why; arrow
 * keys move along, Enter opens the run.
 */
export function Strip({
  cells,
  label,
}: {
  readonly cells: readonly StripCell[];
  readonly label: string;
}): ReactNode {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<string>();
  if (cells.length === 0) return null;
  // One of them is in the order of the tab key: the one that had the focus, else the latest.
  const current = cells.find(({ id }) => id === chosen) ?? cells.at(-1);
  const open = ({ runId }: StripCell): void => {
    if (runId !== undefined) void navigate({ to: '/runs/$id', params: { id: runId } });
  };
  const press = (event: KeyboardEvent<HTMLElement>, index: number): void => {
    const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: cells.length - 1 }[event.key];
    const next = to === undefined ? undefined : cells[to];
    if (!next) return;
    event.preventDefault();
    setChosen(next.id);
    event.currentTarget.closest('ul')?.querySelectorAll('button')[to ?? 0]?.focus();
  };
  return (
    <ul className={styles.strip} aria-label={label}>
      {cells.map((cell, index) => (
        <li key={cell.id}>
          <button
            type="button"
            className={styles.cell}
            data-tone={cell.tone}
            aria-label={cell.words}
            aria-disabled={cell.runId === undefined || undefined}
            tabIndex={cell === current ? 0 : -1}
            onFocus={() => setChosen(cell.id)}
            onKeyDown={(event) => press(event, index)}
            onClick={() => open(cell)}
          >
            <span aria-hidden="true">{cell.sign}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** What the signs of strips mean. */
export function StripLegend(): ReactNode {
  return (
    <ul className={styles.legend} aria-label="Signs">
      {legend.map(([sign, tone, word]) => (
        <li key={word}>
          <span className={styles.cell} data-tone={tone} aria-hidden="true">
            {sign}
          </span>
          {word}
        </li>
      ))}
    </ul>
  );
}
