import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { MonitorRow } from '../../../../src/contract/execution.ts';
import { stopTree } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { holdingWords, spentWords, waitingWords } from '../../ui/words.ts';
import { needsPerson } from './monitor-rows.ts';
import styles from './monitor.module.css';

/** About as high as a row is; the real height is measured. */
const rowPixels = 76;

/** The live roots, one under the other; however many there are, only those on the screen are drawn. */
export function LiveRoots({ rows }: { readonly rows: readonly MonitorRow[] }): ReactNode {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPixels,
    overscan: 6,
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

function LiveRoot({ row }: { readonly row: MonitorRow }): ReactNode {
  const { id, name, state, waiting, agent, sessionId, createdAt, open, holding } = row;
  return (
    <article className={styles.root} data-needs-person={needsPerson(row) || undefined}>
      <div className={styles.what}>
        <StateMark state={waiting ? 'waiting' : state === 'queued' ? 'queued' : 'running'} />
        <Link to="/roots/$id" params={{ id }} className={styles.name}>
          <bdi>{plainLine(name, 160)}</bdi>
        </Link>
        <span className={styles.facts}>
          <Age from={createdAt} />
          {agent !== undefined && sessionId !== undefined && (
            <Link to="/sessions/$id" params={{ id: sessionId }}>
              {agent}
            </Link>
          )}
          <span>{openWords(open)}</span>
          <span>{spentWords(row)}</span>
        </span>
      </div>
      <p className={styles.held}>{waiting ? waitingWords(waiting) : <HeldBy holding={holding} />}</p>
      <Action label="Stop" tone="bad" asks="Stop it and everything below it?" run={() => stopTree(id)} />
    </article>
  );
}

function HeldBy({ holding }: Pick<MonitorRow, 'holding'>): ReactNode {
  const [first, ...others] = holding;
  if (!first) return 'closing';
  return (
    <>
      held by <bdi>{plainLine(first.name ?? first.noticeId ?? first.executionId ?? '', 80)}</bdi> (
      {holdingWords(first)}){others.length > 0 && ` and ${others.length} more`}
    </>
  );
}

function openWords({ executions, notices }: MonitorRow['open']): string {
  const results = notices === 0 ? '' : `, ${notices} ${notices === 1 ? 'result' : 'results'} owed`;
  return `${executions} open${results}`;
}
