import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { TreeView } from '../../../../src/contract/execution.ts';
import { useNow } from '../../live/clock.ts';
import styles from './root.module.css';
import { TraceArrows } from './trace-arrows.tsx';
import { TraceAxis } from './trace-axis.tsx';
import { TraceLine } from './trace-line.tsx';
import { TraceTools } from './trace-tools.tsx';
import type { Trace } from './trace.ts';
import { useCollapsed } from './use-collapsed.ts';
import { useGridKeys } from './use-grid-keys.ts';
import { useRows } from './use-rows.ts';
import { useTimeWindow } from './use-time-window.ts';
import { useWidth } from './use-width.ts';
import { visibleRows } from './visible-rows.ts';

/** How high a row is where name and bar stand beside each other, and where they stand under each other; pixels. */
const rowPx = { wide: 30, narrow: 52 } as const;
/** Narrower than this, a row has two lines. Pixels. */
const narrowPx = 640;

/** What of a tree is looked at, and how that is changed. */
export interface Looking {
  /** The key of what its detail is open of. */
  readonly chosen: string | undefined;
  readonly choose: (key: string | undefined) => void;
  /** The stretch of time, as an address has it. */
  readonly zoom: string | undefined;
  readonly setZoom: (text: string | undefined) => void;
}

/** All executions of a tree, one under the other, beside the time that each took. However many: only those on the screen are drawn. */
export function TraceGrid({
  trace,
  view,
  looking,
}: {
  readonly trace: Trace;
  readonly view: TreeView;
  readonly looking: Looking;
}): ReactNode {
  const { chosen, choose } = looking;
  const now = usePresent(trace);
  const grid = useRef<HTMLDivElement>(null);
  const [track, trackWidth] = useWidth();
  const [body, bodyWidth] = useWidth();
  const height = bodyWidth > 0 && bodyWidth < narrowPx ? rowPx.narrow : rowPx.wide;
  const time = useTimeWindow({ trace, now, looking, width: trackWidth });
  const { collapsed, toggle, reveal, setAll } = useCollapsed(trace);
  const visible = useMemo(() => visibleRows(trace, collapsed), [trace, collapsed]);
  const [focused, setFocused] = useState(chosen ?? trace.rows[0]?.key ?? '');
  const place = visible.places[trace.at.get(focused) ?? 0] ?? 0;
  const rows = useRows({ count: visible.rows.length, height, place, body });
  useChosenInView({ trace, visible, chosen, reveal, setFocused, scrollTo: rows.scrollTo });
  const onKeyDown = useGridKeys({
    ...{ grid, trace, visible, collapsed, place, looking, time, toggle, setFocused },
    rowHeight: height,
    scrollTo: rows.scrollTo,
  });
  const chooseRow = useCallback(
    (key: string) => {
      setFocused(key);
      choose(key);
    },
    [choose],
  );
  const [first, last] = [rows.items[0]?.index ?? 0, rows.items.at(-1)?.index ?? 0];
  const focusedKey = trace.rows[visible.rows[place] ?? -1]?.key;
  return (
    <section aria-label="The tree in time" className={styles.trace}>
      <TraceTools trace={trace} view={view} time={time} setAll={setAll} />
      <div
        ref={grid}
        role="treegrid"
        tabIndex={-1}
        aria-label="Executions"
        aria-rowcount={visible.rows.length + 1}
        className={styles.grid}
        data-narrow={height === rowPx.narrow || undefined}
        onKeyDown={onKeyDown}
      >
        <div role="rowgroup" className={styles.head}>
          <div role="row" aria-rowindex={1} className={styles.headRow}>
            <div role="columnheader">Execution</div>
            <div role="columnheader" className={styles.timeHead}>
              Time
            </div>
            <div role="columnheader" aria-label="When" ref={track} className={styles.trackHead}>
              <TraceAxis trace={trace} time={time} width={trackWidth} />
            </div>
          </div>
        </div>
        <div role="rowgroup" ref={body} className={styles.body} style={{ height: rows.total }}>
          {rows.items.map(({ index, top }) => {
            const at = visible.rows[index] ?? 0;
            const row = trace.rows[at];
            if (!row) return null;
            const isOpen = row.kind === 'step' || !row.node.execution.closed;
            return (
              <TraceLine
                key={row.key}
                {...{ row, top, height, window: time.window, width: trackWidth }}
                place={index}
                hasBelow={row.end > at + 1}
                isCollapsed={collapsed.has(row.key)}
                isFocused={row.key === focusedKey}
                isChosen={row.key === chosen}
                // What is closed is drawn once, not every second.
                now={isOpen ? now : 0}
                onChoose={chooseRow}
                onToggle={toggle}
                onFocus={setFocused}
              />
            );
          })}
          <TraceArrows
            {...{ trace, visible, first, last, now, chosen, window: time.window }}
            rowHeight={height}
            width={trackWidth}
          />
        </div>
      </div>
    </section>
  );
}

/** The present where a tree is open; where it is closed, when it closed: nothing there moves any more. */
function usePresent({ endsAt, latestAt }: Trace): number {
  const now = useNow();
  // The clock of the page goes by seconds: what has just happened is not later than the present.
  return endsAt ?? Math.max(now, latestAt);
}

/** An address that names an execution shows it, wherever it is, once. */
function useChosenInView({
  trace,
  visible,
  chosen,
  reveal,
  setFocused,
  scrollTo,
}: {
  readonly trace: Trace;
  readonly visible: ReturnType<typeof visibleRows>;
  readonly chosen: string | undefined;
  readonly reveal: (key: string) => void;
  readonly setFocused: (key: string) => void;
  readonly scrollTo: (place: number) => void;
}): void {
  const shown = useRef<string>(undefined);
  const isIn = chosen !== undefined && trace.at.has(chosen);
  useEffect(() => {
    if (chosen === undefined || !isIn) return;
    reveal(chosen);
    setFocused(chosen);
  }, [chosen, isIn, reveal, setFocused]);
  const index = chosen === undefined ? undefined : trace.at.get(chosen);
  const place = index === undefined ? undefined : visible.places[index];
  const isVisible = place !== undefined && visible.rows[place] === index;
  useEffect(() => {
    if (chosen === shown.current) return;
    if (chosen !== undefined && !(isVisible && place !== undefined)) return;
    if (place !== undefined) scrollTo(place);
    shown.current = chosen;
  }, [chosen, isVisible, place, scrollTo]);
}
