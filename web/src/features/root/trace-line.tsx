import { memo, type MouseEvent, type ReactNode } from 'react';
import type { TreeStep } from '../../../../src/contract/step.ts';
import { formatDuration } from '../../../../src/words/durations.ts';
import type { TreeNode } from '../../../../src/words/forest.ts';
import { stepStateWords } from '../../../../src/words/step-words.ts';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { shownState } from '../../ui/words.ts';
import { badgesOf } from './badges.ts';
import { barsOf, endOf } from './bars.ts';
import styles from './root.module.css';
import { placeOf, type TimeWindow } from './time-window.ts';
import type { TraceRow } from './trace.ts';

interface LineProps {
  readonly row: TraceRow;
  /** Its place among the visible rows. */
  readonly place: number;
  /** Pixels. */
  readonly top: number;
  readonly height: number;
  readonly hasBelow: boolean;
  readonly isCollapsed: boolean;
  readonly isFocused: boolean;
  readonly isChosen: boolean;
  /** 0 where nothing of it lasts. */
  readonly now: number;
  readonly window: TimeWindow;
  readonly width: number;
  readonly onChoose: (key: string) => void;
  readonly onToggle: (key: string) => void;
  readonly onFocus: (key: string) => void;
}

/** Deeper rows are not moved in any further. */
const deepestIndent = 14;

/** One row of the tree: what it is, how long it took, and when. */
export const TraceLine = memo(function TraceLine(props: LineProps): ReactNode {
  const { row, place, top, height, hasBelow, isCollapsed, isFocused, isChosen } = props;
  const state = row.kind === 'execution' ? shownState(row.node.execution) : row.step.state;
  const attempts = row.kind === 'execution' ? row.attempts : undefined;
  const onClick = ({ target }: MouseEvent): void => {
    if ((target as Element).closest('[data-twist]')) props.onToggle(row.key);
    else props.onChoose(row.key);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the grid has them, for all its rows
    <div
      role="row"
      className={styles.row}
      // No transform: each would be a thing of its own to the compositor.
      style={{ insetBlockStart: top, height }}
      tabIndex={isFocused ? 0 : -1}
      aria-rowindex={place + 2}
      aria-level={row.depth + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={hasBelow ? !isCollapsed : undefined}
      aria-selected={isChosen}
      data-place={place}
      data-key={row.key}
      data-state={state}
      data-attempt={attempts && attemptMark(attempts)}
      onClick={onClick}
      onFocus={() => props.onFocus(row.key)}
    >
      <div
        role="gridcell"
        className={styles.name}
        style={{ paddingInlineStart: `calc(${Math.min(row.depth, deepestIndent)} * var(--indent))` }}
      >
        <span data-twist className={styles.twist} aria-hidden="true">
          {hasBelow ? (isCollapsed ? '▸' : '▾') : ''}
        </span>
        {row.kind === 'execution' ? (
          <ExecutionName row={row} below={isCollapsed ? row.node.size - 1 : 0} />
        ) : (
          <StepName step={row.step} now={props.now} />
        )}
      </div>
      {row.kind === 'execution' ? (
        <Times {...props} node={row.node} />
      ) : (
        <>
          <div role="gridcell" className={styles.time} aria-label="not begun" />
          <div role="gridcell" className={styles.track} aria-label="not begun" />
        </>
      )}
    </div>
  );
});

function attemptMark({ isFirst, isLast }: { isFirst: boolean; isLast: boolean }): string {
  return isFirst ? 'first' : isLast ? 'last' : 'middle';
}

function ExecutionName({
  row,
  below,
}: {
  readonly row: TraceRow & { readonly kind: 'execution' };
  readonly below: number;
}): ReactNode {
  const { execution } = row.node;
  const said = plainLine(execution.name, 200);
  const named = said === execution.kind ? '' : said;
  return (
    <>
      <StateMark state={shownState(execution)} />
      <span className={styles.title}>
        <span className={styles.quiet}>{execution.kind}</span> <bdi>{named}</bdi>
      </span>
      {badgesOf(row).map(({ text, tone, explains }) => (
        <span key={text} className={styles.badge} data-tone={tone} title={explains}>
          {text}
        </span>
      ))}
      {below > 0 && <span className={styles.badge}>{below} below</span>}
    </>
  );
}

function StepName({ step, now }: { readonly step: TreeStep; readonly now: number }): ReactNode {
  return (
    <>
      <StateMark
        state={step.state === 'backsOff' ? 'waiting' : step.state === 'skipped' ? 'cancelled' : 'queued'}
      />
      <bdi className={styles.quietTitle}>step {plainLine(step.name, 120)}</bdi>
      <span className={styles.quiet}>{stepStateWords(step, now)}</span>
    </>
  );
}

/** As wide as a bar is at least, as the style says. */
const leastPx = 3;
/** What took less is not told more exactly; milliseconds. */
const shortMs = 100;

/** How long it took, and its bars. A bar is one of them at least wide enough to be seen. */
function Times({
  node: { execution },
  now,
  window,
  width,
}: LineProps & { readonly node: TreeNode }): ReactNode {
  const began = Date.parse(execution.startedAt ?? execution.createdAt);
  const lasted = endOf(execution, now) - began;
  const words = lasted < shortMs ? '<0.1s' : formatDuration(lasted);
  const state = shownState(execution);
  return (
    <>
      <div role="gridcell" className={styles.time}>
        {execution.state === 'queued' ? '' : words}
      </div>
      <div role="gridcell" className={styles.track}>
        {width > 0 &&
          barsOf(execution, now).map(({ part, from, to, isGoing }) => {
            const left = placeOf(from, window, width);
            const right = placeOf(to, window, width);
            if (right < 0 || left > width) return null;
            const start = Math.max(0, Math.min(left, width - leastPx));
            return (
              <span
                key={part}
                className={styles.bar}
                data-part={part}
                data-state={state}
                data-kind={execution.kind}
                data-going={isGoing || undefined}
                style={{ insetInlineStart: start, width: Math.min(right, width) - start }}
              />
            );
          })}
      </div>
    </>
  );
}
