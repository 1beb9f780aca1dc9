import { type ReactNode, useId } from 'react';
import { arrowsAmong } from './arrows.ts';
import styles from './root.module.css';
import { placeOf, type TimeWindow } from './time-window.ts';
import type { Trace } from './trace.ts';
import type { VisibleRows } from './visible-rows.ts';

/** How far a curve swings out at its ends; pixels. */
const swingPx = 14;

/** From the end of each child to the beginning of the continuation that handled its result. For the eye alone: the detail says it in words. */
export function TraceArrows({
  trace,
  visible,
  first,
  last,
  rowHeight,
  width,
  window,
  now,
  chosen,
}: {
  readonly trace: Trace;
  readonly visible: VisibleRows;
  readonly first: number;
  readonly last: number;
  readonly rowHeight: number;
  readonly width: number;
  readonly window: TimeWindow;
  readonly now: number;
  readonly chosen: string | undefined;
}): ReactNode {
  const head = useId();
  const arrows = arrowsAmong(trace, visible, { first, last, now, chosen });
  if (arrows.length === 0 || width === 0) return null;
  const top = first * rowHeight;
  const height = (last - first + 1) * rowHeight;
  const point = ({ place, at }: { place: number; at: number }): [x: number, y: number] => [
    placeOf(at, window, width),
    (place + 0.5) * rowHeight - top,
  ];
  return (
    <svg
      className={styles.arrows}
      style={{ transform: `translateY(${top}px)`, width, height }}
      width={width}
      height={height}
      aria-hidden="true"
    >
      <defs>
        <marker id={head} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
          <path d="M0 0.5 L7.5 4 L0 7.5 z" className={styles.arrowHead} />
        </marker>
      </defs>
      {arrows.map(({ key, from, to, isHandled, isChosen }) => {
        const [x1, y1] = point(from);
        const [x2, y2] = point(to);
        return (
          <path
            key={key}
            d={`M${x1} ${y1} C${x1 + swingPx} ${y1} ${x2 - swingPx} ${y2} ${x2 - 1} ${y2}`}
            markerEnd={`url(#${head})`}
            data-on-its-way={!isHandled || undefined}
            data-chosen={isChosen || undefined}
          />
        );
      })}
    </svg>
  );
}
