import { type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import styles from './root.module.css';
import { placeOf, ticksOf } from './time-window.ts';
import type { Trace } from './trace.ts';
import type { TimeView } from './use-time-window.ts';

/** A shorter drag is a click. Pixels. */
const dragPx = 4;
/** How much a notch of the wheel zooms. */
const wheelZoom = 0.002;

/** The axis of time: its marks; dragged over, it zooms to that stretch; the wheel with Ctrl zooms, with Shift it moves. */
export function TraceAxis({
  trace,
  time,
  width,
}: {
  readonly trace: Trace;
  readonly time: TimeView;
  readonly width: number;
}): ReactNode {
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number }>();
  const axis = useWheel(time);
  const placeIn = ({ clientX, currentTarget }: PointerEvent): number =>
    clientX - currentTarget.getBoundingClientRect().left;
  const onPointerDown = (event: PointerEvent): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ from: placeIn(event), to: placeIn(event) });
  };
  const onPointerUp = (): void => {
    if (drag && Math.abs(drag.to - drag.from) >= dragPx) time.select(drag.from, drag.to);
    setDrag(undefined);
  };
  return (
    <div
      ref={axis}
      className={styles.axis}
      title="Drag over a stretch to zoom to it"
      onPointerDown={onPointerDown}
      onPointerMove={(event) => drag && setDrag({ ...drag, to: placeIn(event) })}
      onPointerUp={onPointerUp}
      onPointerCancel={() => setDrag(undefined)}
      onDoubleClick={time.fit}
    >
      {ticksOf(time.window, trace.startsAt, width).map(({ at, words }) => (
        <span
          key={at}
          className={styles.tick}
          style={{ insetInlineStart: placeOf(at, time.window, width) }}
          title={new Date(at).toLocaleString()}
        >
          {words}
        </span>
      ))}
      {drag && (
        <span
          className={styles.drag}
          style={{ insetInlineStart: Math.min(drag.from, drag.to), width: Math.abs(drag.to - drag.from) }}
        />
      )}
    </div>
  );
}

/** A ref for what the wheel zooms over: the whole grid that it is in. */
function useWheel(time: TimeView): { current: HTMLDivElement | null } {
  const axis = useRef<HTMLDivElement>(null);
  const latest = useRef(time);
  useEffect(() => {
    latest.current = time;
  });
  useEffect(() => {
    const own = axis.current;
    const grid = own?.closest<HTMLElement>('[role="treegrid"]');
    if (!own || !grid) return;
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.shiftKey) return;
      // Else the browser would zoom the whole page.
      event.preventDefault();
      const place = event.clientX - own.getBoundingClientRect().left;
      if (event.ctrlKey) latest.current.zoomAt(Math.exp(event.deltaY * wheelZoom), Math.max(0, place));
      else latest.current.moveBy(event.deltaX || event.deltaY);
    };
    grid.addEventListener('wheel', onWheel, { passive: false });
    return () => grid.removeEventListener('wheel', onWheel);
  }, []);
  return axis;
}
