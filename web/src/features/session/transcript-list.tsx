import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import styles from './session.module.css';
import { TranscriptRowView } from './transcript-row.tsx';
import type { TranscriptRow } from './transcript-rows.ts';

/** About as high as a row is; the real height is measured. */
const rowPixels = 72;
/** Whoever is so near to the end follows it. */
const endPixels = 60;
/** So near to the beginning, what is older is read. */
const olderPixels = 600;

/**
 * What a session said and did. However long it is, only what is on the screen is drawn. Whoever stands at its end stays there
 * while more comes; whoever reads further up is not moved.
 */
export function TranscriptList({
  rows,
  hasOlder,
  readOlder,
  isBusy,
}: {
  readonly rows: readonly TranscriptRow[];
  readonly hasOlder: boolean;
  readonly readOlder: () => Promise<void>;
  readonly isBusy: boolean;
}): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  // What a person has opened stays open when its row comes back to the screen.
  const [opened] = useState(() => new Set<string>());
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPixels,
    overscan: 8,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const { isAtEnd, toEnd } = useEnd(box, virtual, rows);
  useOlder(box, virtual, rows, hasOlder ? readOlder : undefined);
  return (
    <div className={styles.transcriptBox}>
      {/* Whoever has no pointer scrolls it by keys. */}
      <div className={styles.transcript} ref={box} tabIndex={0} role="region" aria-label="Transcript">
        {hasOlder && (
          <p className={styles.older} role="status">
            Loading what is older…
          </p>
        )}
        <ol className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index];
            return (
              row && (
                <li
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  data-kind={row.kind}
                  className={styles.row}
                  style={{ transform: `translateY(${start}px)` }}
                  aria-setsize={hasOlder ? -1 : rows.length}
                  aria-posinset={index + 1}
                >
                  <TranscriptRowView row={row} opened={opened} />
                </li>
              )
            );
          })}
        </ol>
        {isBusy && (
          <p className={styles.working} role="status">
            <span aria-hidden="true">●</span> at work
          </p>
        )}
      </div>
      {!isAtEnd && (
        <button type="button" className={styles.toEnd} onClick={toEnd}>
          To the end ↓
        </button>
      )}
    </div>
  );
}

type Rows = Virtualizer<HTMLDivElement, Element>;

/** Keeps whoever stands at the end there, also while rows are measured. */
function useEnd(
  box: RefObject<HTMLDivElement | null>,
  virtual: Rows,
  rows: readonly TranscriptRow[],
): { isAtEnd: boolean; toEnd: () => void } {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const size = virtual.getTotalSize();
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = (): void => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < endPixels;
      setAtEnd(follows.current);
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [box]);
  const toEnd = (): void => {
    follows.current = true;
    box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  useLayoutEffect(() => {
    if (follows.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [box, size, rows]);
  return { isAtEnd, toEnd };
}

/** Reads what is older when the beginning comes near, and keeps on the screen what is there. */
function useOlder(
  box: RefObject<HTMLDivElement | null>,
  virtual: Rows,
  rows: readonly TranscriptRow[],
  readOlder: (() => Promise<void>) | undefined,
): void {
  const anchor = useRef<{ readonly key: string; readonly offset: number } | undefined>(undefined);
  const isReading = useRef(false);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element || !readOlder || isFailed) return;
    const look = (): void => {
      if (element.scrollTop > olderPixels || isReading.current) return;
      isReading.current = true;
      const first = virtual.getVirtualItemForOffset(element.scrollTop);
      if (first) anchor.current = { key: String(first.key), offset: element.scrollTop - first.start };
      readOlder()
        .catch(() => setFailed(true))
        .finally(() => (isReading.current = false));
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [box, virtual, readOlder, isFailed, rows]);
  const firstKey = rows[0]?.key;
  useLayoutEffect(() => {
    const kept = anchor.current;
    anchor.current = undefined;
    if (!kept || firstKey === undefined) return;
    const index = rows.findIndex(({ key }) => key === kept.key);
    const [start] = virtual.getOffsetForIndex(index, 'start') ?? [];
    if (index > 0 && start !== undefined) box.current?.scrollTo({ top: start + kept.offset });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only when something has come before the first row
  }, [firstKey]);
}
