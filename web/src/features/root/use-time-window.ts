import { useCallback, useMemo } from 'react';
import type { Trace } from './trace.ts';
import type { Looking } from './trace-grid.tsx';
import {
  between,
  instantAt,
  moved,
  type TimeWindow,
  windowOfText,
  windowText,
  zoomed,
} from './time-window.ts';

/** A tree of an instant is drawn as if it had lasted so long; milliseconds. */
const shortestWholeMs = 500;
/** How much of the time there is beyond the end, so that the last bar does not touch the edge. */
const roomAtEnd = 0.03;
const zoomStep = 0.6;
const moveStep = 0.2;

/** The stretch of time on the screen, and how it is changed. */
export interface TimeView {
  readonly window: TimeWindow;
  readonly isZoomed: boolean;
  /** Longer or shorter by a factor, about a place on the axis. */
  readonly zoomAt: (factor: number, place: number) => void;
  /** In or out by a step, about the middle. */
  readonly step: (direction: 'in' | 'out') => void;
  readonly moveBy: (pixels: number) => void;
  readonly select: (fromPlace: number, toPlace: number) => void;
  readonly fit: () => void;
  /** What a key does to it; whether it does anything. */
  readonly press: (key: string, isShift: boolean) => boolean;
}

/** The stretch of time that is looked at: all of it, up to the present while it is open, or what the address says. */
export function useTimeWindow({
  trace: { startsAt, endsAt },
  now,
  looking: { zoom, setZoom },
  width,
}: {
  readonly trace: Pick<Trace, 'startsAt' | 'endsAt'>;
  readonly now: number;
  readonly looking: Pick<Looking, 'zoom' | 'setZoom'>;
  readonly width: number;
}): TimeView {
  const last = endsAt ?? steady(now, startsAt);
  const whole = useMemo(() => {
    const length = Math.max(last - startsAt, shortestWholeMs);
    return { from: startsAt, to: startsAt + length * (1 + roomAtEnd) };
  }, [startsAt, last]);
  const window = useMemo(() => {
    const asked = windowOfText(zoom, startsAt);
    return asked ? moved(asked, 0, whole) : whole;
  }, [zoom, startsAt, whole]);
  const set = useCallback(
    (next: TimeWindow) =>
      setZoom(next.from <= whole.from && next.to >= whole.to ? undefined : windowText(next, startsAt)),
    [setZoom, whole, startsAt],
  );
  const zoomAt = (factor: number, place: number): void =>
    set(zoomed(window, factor, instantAt(place, window, width), whole));
  const step = (direction: 'in' | 'out'): void =>
    zoomAt(direction === 'in' ? zoomStep : 1 / zoomStep, width / 2);
  const moveBy = (pixels: number): void =>
    set(moved(window, (pixels / (width || 1)) * (window.to - window.from), whole));
  const fit = (): void => setZoom(undefined);
  return {
    window,
    isZoomed: window !== whole,
    zoomAt,
    step,
    moveBy,
    fit,
    select: (from, to) => set(between(instantAt(from, window, width), instantAt(to, window, width), whole)),
    press: (key, isShift) => {
      if (key === '+' || key === '=') step('in');
      else if (key === '-' || key === '_') step('out');
      else if (key === '0') fit();
      else if (isShift && key === 'ArrowLeft') moveBy(-width * moveStep);
      else if (isShift && key === 'ArrowRight') moveBy(width * moveStep);
      else return false;
      return true;
    },
  };
}

/**
 * The present, rounded up to about a hundredth of what has passed: a picture of an hour that moved every second by less than anybody
 * sees would be drawn anew every second.
 */
function steady(now: number, startsAt: number): number {
  const passed = Math.max(now - startsAt, 1);
  const step = Math.max(1_000, 2 ** Math.floor(Math.log2(passed / 100)));
  return startsAt + Math.ceil(passed / step) * step;
}
