import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef } from 'react';
import type { Trace } from './trace.ts';
import type { Looking } from './trace-grid.tsx';
import type { TimeView } from './use-time-window.ts';
import { treeMove, type VisibleRows } from './visible-rows.ts';

/** How many rows the head and the banner take of a page. */
const rowsNotSeen = 4;

/** What the keyboard does in the tree: moves, opens and closes, shows the detail, changes the time. */
export function useGridKeys({
  grid,
  trace,
  visible,
  collapsed,
  place,
  looking,
  time,
  toggle,
  setFocused,
  rowHeight,
  scrollTo,
}: {
  readonly grid: RefObject<HTMLElement | null>;
  readonly trace: Trace;
  readonly visible: VisibleRows;
  readonly collapsed: ReadonlySet<string>;
  /** The visible place that has the focus. */
  readonly place: number;
  readonly looking: Pick<Looking, 'chosen' | 'choose'>;
  readonly time: Pick<TimeView, 'press'>;
  readonly toggle: (key: string) => void;
  readonly setFocused: (key: string) => void;
  readonly rowHeight: number;
  readonly scrollTo: (place: number) => void;
}): (event: KeyboardEvent) => void {
  // The row that is gone to may have to be drawn first.
  const wanted = useRef<number>(undefined);
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    const row = grid.current?.querySelector<HTMLElement>(`[data-place="${wanted.current}"]`);
    if (!row) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });
  const keyAt = (at: number): string | undefined => trace.rows[visible.rows[at] ?? -1]?.key;
  const goTo = (to: number): void => {
    const key = keyAt(to);
    if (key === undefined) return;
    wanted.current = to;
    setFocused(key);
    scrollTo(to);
  };
  const act = (key: string, isShift: boolean): boolean => {
    if (key === 'Enter' || key === ' ') looking.choose(keyAt(place));
    else if (key === 'Escape' && looking.chosen !== undefined) looking.choose(undefined);
    else if (!time.press(key, isShift)) {
      const page = Math.max(1, Math.floor(innerHeight / rowHeight) - rowsNotSeen);
      const move = treeMove(key, place, { trace, visible, collapsed, page });
      if (move === undefined) return false;
      if ('toggle' in move) toggle(move.toggle);
      else goTo(move.to);
    }
    return true;
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (act(event.key, event.shiftKey)) event.preventDefault();
  };
}
