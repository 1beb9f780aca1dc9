import type { ReactNode } from 'react';
import styles from './monitor.module.css';

/** A bar's width with the gap behind it, and how high the highest is; pixels. */
const barPx = 3;
const highPx = 18;

/** How much happened in a tree in each of the last minutes, the present one at the right end. */
export function ActivityStrip({ counts }: { readonly counts: readonly number[] }): ReactNode {
  if (counts.length === 0) return null;
  const most = Math.max(...counts, 1);
  const sum = counts.reduce((total, count) => total + count, 0);
  const words = `${sum.toLocaleString('en')} events in ${counts.length} minutes`;
  const heightOf = (count: number): number => (count === 0 ? 1 : 2 + (count / most) * (highPx - 2));
  return (
    <svg
      className={styles.activity}
      width={counts.length * barPx}
      height={highPx}
      role="img"
      aria-label={words}
    >
      <title>{words}</title>
      {counts.map((count, minute) => (
        <rect
          key={minute}
          x={minute * barPx}
          y={highPx - heightOf(count)}
          width={barPx - 1}
          height={heightOf(count)}
          data-quiet={count === 0 || undefined}
        />
      ))}
    </svg>
  );
}
