import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { MonitorRow } from '../../../../src/contract/execution.ts';
import { LiveRoot } from './live-root.tsx';
import styles from './monitor.module.css';

/** About as high as a row is; the real height is measured. */
const rowPixels = 82;

/** The live roots, one under the other; however many there are, only those on the screen are drawn. */
export function LiveRoots({ rows }: { readonly rows: readonly MonitorRow[] }): ReactNode {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPixels,
    overscan: 6,
    useFlushSync: false,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  return (
    <ul ref={list} className={styles.rows} style={{ height: virtual.getTotalSize() }} aria-label="Live roots">
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const row = rows[index];
        if (!row) return null;
        return (
          <li
            key={key}
            data-index={index}
            ref={virtual.measureElement}
            className={styles.row}
            style={{ transform: `translateY(${start - top}px)` }}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
          >
            <LiveRoot row={row} />
          </li>
        );
      })}
    </ul>
  );
}
