import { type ReactNode, useState } from 'react';
import type { TreeView } from '../../../../src/contract/execution.ts';
import { treeLines } from '../../../../src/words/tree-view.ts';
import { serverNow, useNow } from '../../live/clock.ts';
import styles from './root.module.css';
import type { Trace } from './trace.ts';
import type { TimeView } from './use-time-window.ts';

/** How long it is said that something was copied; milliseconds. */
const saidMs = 4_000;

/** What can be done with the picture: zoom, open and close, copy. */
export function TraceTools({
  trace,
  view,
  time,
  setAll,
}: {
  readonly trace: Trace;
  readonly view: TreeView;
  readonly time: TimeView;
  readonly setAll: (how: 'open' | 'closedOnes') => void;
}): ReactNode {
  return (
    <div className={styles.tools} role="toolbar" aria-label="The picture">
      <span className={styles.group}>
        <button type="button" aria-label="Zoom out" title="Zoom out (-)" onClick={() => time.step('out')}>
          −
        </button>
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => time.step('in')}>
          +
        </button>
        <button type="button" title="Show all of the time (0)" disabled={!time.isZoomed} onClick={time.fit}>
          Fit
        </button>
      </span>
      {trace.rows.length > 3 && (
        <span className={styles.group}>
          <button type="button" onClick={() => setAll('open')}>
            Open all
          </button>
          <button type="button" onClick={() => setAll('closedOnes')}>
            Fold what is closed
          </button>
        </span>
      )}
      <CopyTree view={view} />
      <span className={styles.hint}>
        <kbd>↑↓←→</kbd> move <kbd>Enter</kbd> detail <kbd>+ −</kbd> or <kbd>Ctrl</kbd> wheel zoom
      </span>
    </div>
  );
}

/** Copies the tree as `stemma tree` prints it. */
function CopyTree({ view }: { readonly view: TreeView }): ReactNode {
  const [said, setSaid] = useState({ text: '', at: 0 });
  const now = useNow();
  const copy = async (): Promise<void> => {
    const lines = treeLines(view, { now: serverNow(), ids: true });
    const text = lines
      .map((line) =>
        line
          .map((each) => each.text)
          .join('')
          .trimEnd(),
      )
      .join('\n');
    try {
      await navigator.clipboard.writeText(`${text}\n`);
      setSaid({ text: 'Copied', at: serverNow() });
    } catch {
      setSaid({ text: 'The browser does not let it be copied', at: serverNow() });
    }
  };
  return (
    <span className={styles.group}>
      <button type="button" onClick={() => void copy()}>
        Copy as text
      </button>
      <span role="status" className={styles.quiet}>
        {now - said.at < saidMs ? said.text : ''}
      </span>
    </span>
  );
}
