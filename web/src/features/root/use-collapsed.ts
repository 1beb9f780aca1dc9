import { useCallback, useState } from 'react';
import type { Trace } from './trace.ts';
import { keysAbove } from './visible-rows.ts';

/** What of a tree is collapsed, by the keys of rows. */
interface Collapsed {
  readonly collapsed: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  /** Opens everything above a row. */
  readonly reveal: (key: string) => void;
  readonly setAll: (how: 'open' | 'closedOnes') => void;
}

/** What of a tree is collapsed: at first nothing is. */
export function useCollapsed(trace: Trace): Collapsed {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(
    (key: string) =>
      setCollapsed((before) => {
        const after = new Set(before);
        if (!after.delete(key)) after.add(key);
        return after;
      }),
    [],
  );
  const reveal = useCallback(
    (key: string) =>
      setCollapsed((before) => {
        const above = keysAbove(trace, trace.at.get(key) ?? -1).filter((each) => before.has(each));
        return above.length === 0 ? before : new Set([...before].filter((each) => !above.includes(each)));
      }),
    [trace],
  );
  const setAll = (how: 'open' | 'closedOnes'): void =>
    setCollapsed(how === 'open' ? new Set() : closedOnes(trace));
  return { collapsed, toggle, reveal, setAll };
}

/** The keys of what is closed and has something below it, but for the root: what is at work stays in sight. */
function closedOnes({ rows }: Trace): ReadonlySet<string> {
  const keys = rows.flatMap((row, index) =>
    row.kind === 'execution' && row.parent >= 0 && row.node.execution.closed && row.end > index + 1
      ? [row.key]
      : [],
  );
  return new Set(keys);
}
