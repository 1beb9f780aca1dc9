import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useMemo } from 'react';
import type { TreeView } from '../../../../src/contract/execution.ts';
import { useTitle } from '../../app/title.ts';
import { treeQuery } from '../../live/queries.ts';
import { Answered } from '../../ui/answered.tsx';
import { plainLine } from '../../ui/plain.ts';
import { shownState, signs } from '../../ui/words.ts';
import { ExecutionDetail } from './execution-detail.tsx';
import { RootHeader } from './root-header.tsx';
import { RootHolding } from './root-holding.tsx';
import styles from './root.module.css';
import { TraceGrid } from './trace-grid.tsx';
import { traceOf } from './trace.ts';

const route = getRouteApi('/roots/$id');

/** One tree: what it is, what holds it, and all of it in time. An address of an execution within it opens that. */
export function RootView(): ReactNode {
  const { id } = route.useParams();
  const query = useQuery(treeQuery(id));
  return (
    <Answered query={query} what="the tree">
      {(view) => <Tree key={view.root} id={id} view={view} />}
    </Answered>
  );
}

function Tree({ id, view }: { readonly id: string; readonly view: TreeView }): ReactNode {
  const { at, zoom } = route.useSearch();
  const navigate = route.useNavigate();
  const trace = useMemo(() => traceOf(view), [view]);
  const root = view.executions.find((execution) => execution.id === view.root);
  useTitle(root ? `${signs[shownState(root)]} ${plainLine(root.name, 80)}` : 'Tree');
  useEffect(() => {
    // An execution within a tree has no page of its own.
    if (view.root !== id)
      void navigate({ params: { id: view.root }, search: { at: at ?? id }, replace: true });
  }, [view.root, id, at, navigate]);
  const choose = useCallback(
    (key: string | undefined): void =>
      void navigate({
        search: (before) => ({ ...before, at: key }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const setZoom = useCallback(
    (text: string | undefined): void =>
      void navigate({
        search: (before) => ({ ...before, zoom: text }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const chosen = at === undefined ? undefined : trace.rows[trace.at.get(at) ?? -1];
  return (
    <div className={styles.view} data-has-detail={chosen !== undefined || undefined}>
      <div className={styles.tree}>
        {root && <RootHeader root={root} view={view} />}
        <RootHolding view={view} onChoose={choose} />
        <TraceGrid trace={trace} view={view} looking={{ chosen: at, choose, zoom, setZoom }} />
      </div>
      {chosen && (
        <ExecutionDetail
          key={chosen.key}
          row={chosen}
          view={view}
          onChoose={choose}
          onClose={() => choose(undefined)}
        />
      )}
    </div>
  );
}
