import type { IdKinds, IdResolution, Queries, Resolution, ResolvableKind } from '../api/ports.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { executionKinds, executionStates } from '../contract/execution.ts';
import type { Page } from '../contract/page.ts';
import type { Execution } from '../ledger/execution.ts';
import type { Session as WireSession } from '../contract/session.ts';
import type { Notice } from '../ledger/notice.ts';
import { ask } from '../ledger/questions.ts';
import type { Session } from '../ledger/session.ts';
import type { NoticeFilter, Page as ViewPage } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';
import { asksForOthers, chosen, idOf, paging } from './list-filters.ts';
import { heldBackOf, withLimits } from './limits.ts';
import { createMonitor } from './monitor.ts';
import { createRunQueries } from './run-queries.ts';
import { unseenIn } from './unseen.ts';
import { briefly, toExecution, toNotice, toSession, toTree } from './wire.ts';
import { stepsOfTree } from './tree-steps.ts';

/** Most executions that one answer shows of a tree. */
const largestTree = 10_000;

const sessionStates = ['cold', 'live', 'stopped'] as const;
const noticeStates = ['owed', 'claimed', 'handed', 'handled', 'waived'] as const;

/** The read side of the API. */
export function createQueries(context: ApplicationContext): Queries {
  const { views, store, clock } = context;
  const session = async (id: SessionId | null): Promise<Session | undefined> =>
    id === null ? undefined : store.read(() => ask('session', id));
  const shownSession = async (row: Session): Promise<WireSession> => {
    const turn = row.wakeTurn ?? row.laneTurn;
    const owners = turn === null ? [] : await store.read(() => ask('owners', turn));
    const inputs = await views.inputsOf(row.id);
    return toSession(
      row,
      owners.map((owner) => owner.id),
      inputs.length,
      await store.read(() => heldBackOf(row.id, context.limits)),
    );
  };
  const execution = (id: ExecutionId): Promise<Execution | undefined> =>
    store.read(() => ask('execution', id));
  return {
    async executions(filter) {
      if (asksForOthers(filter, ['project', 'state', 'kind', 'session', 'root'])) return { items: [] };
      const page = await views.executions({
        ...paging(filter, 'execution'),
        ...chosen('state', filter.state, executionStates),
        ...chosen('kind', filter.kind, executionKinds),
        ...idOf('sessionId', 'session', filter.session),
        ...idOf('rootId', 'execution', filter.root),
        ...(filter.project === undefined ? {} : { project: filter.project }),
      });
      return toPage(page, toExecution);
    },
    async execution(id) {
      const row = await execution(id);
      return row ? toExecution(row) : undefined;
    },
    async tree(id, options) {
      const row = await execution(id);
      const root = row ? await execution(row.rootId) : undefined;
      const rows = root ? await views.tree(root.id, { limit: largestTree }) : undefined;
      if (!root || !rows) return undefined;
      // What is open now is among the newest: where those are left out it is read for itself.
      const open = rows.isCut ? await views.openTree(root.id, { limit: largestTree }) : undefined;
      const tree = toTree(
        root,
        await withLimits(context, rows),
        clock.now(),
        open && (await withLimits(context, open)),
      );
      const unseen = await unseenIn(context, rows);
      const steps = await stepsOfTree(context, rows.executions);
      return {
        ...tree,
        ...(options?.brief ? { executions: tree.executions.map(briefly) } : {}),
        ...(rows.isCut ? { isCut: true } : {}),
        ...(steps.length === 0 ? {} : { steps }),
        ...(unseen.length === 0 ? {} : { unseen }),
      };
    },
    monitor: createMonitor(context),
    async notices(filter) {
      if (asksForOthers(filter, ['state', 'session', 'root'])) return { items: [] };
      const asked = {
        ...paging(filter, 'notice'),
        ...chosen('state', filter.state, noticeStates),
        ...idOf('sessionId', 'session', filter.session),
      };
      const { rootId } = idOf('rootId', 'execution', filter.root);
      if (rootId === undefined) return toPage(await views.notices(asked), toNotice);
      const tree = await views.tree(rootId, { limit: largestTree });
      return toPage(pageOf(tree?.notices ?? [], asked), toNotice);
    },
    async notice(id) {
      const row = await store.read(() => ask('notice', id));
      return row ? toNotice(row) : undefined;
    },
    async sessions(filter) {
      if (asksForOthers(filter, ['project', 'state', 'session'])) return { items: [] };
      const { project } = filter;
      const { state } = chosen('state', filter.state, sessionStates);
      const place = paging(filter, 'session');
      const { sessionId } = idOf('sessionId', 'session', filter.session);
      if (sessionId !== undefined) {
        const row = await session(sessionId);
        const isAsked = row && (project ?? row.project) === row.project && (state ?? row.state) === row.state;
        return { items: isAsked ? [await shownSession(row)] : [] };
      }
      const page = await views.sessions({ ...place, project, state });
      return { ...toPage(page, (row) => row), items: await Promise.all(page.items.map(shownSession)) };
    },
    async session(id) {
      const row = await session(id);
      return row ? shownSession(row) : undefined;
    },
    ...createRunQueries(context),
  };
}

/** A page of the notices of one tree, newest first. */
function pageOf(notices: readonly Notice[], asked: NoticeFilter): ViewPage<Notice> {
  const { state, sessionId, cursor, limit } = asked;
  const fitting = notices
    .filter((row) => state === undefined || row.state === state)
    .filter((row) => sessionId === undefined || row.sessionId === sessionId)
    .filter((row) => cursor === undefined || row.id < cursor)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const items = fitting.slice(0, limit);
  const last = items.at(-1);
  return fitting.length > limit && last ? { items, next: last.id } : { items };
}

function toPage<Row, Item>(page: ViewPage<Row>, to: (row: Row) => Item): Page<Item> {
  return { items: page.items.map(to), ...(page.next === undefined ? {} : { nextCursor: page.next }) };
}

/** Finds things by the beginning of their ids. */
export function createIdResolution(context: ApplicationContext): IdResolution {
  return {
    async resolve<K extends ResolvableKind>(kind: K, prefix: string): Promise<Resolution<IdKinds[K]>> {
      const matches = (await context.views.resolvePrefix(kind, prefix, 11)) as IdKinds[K][];
      const [first] = matches;
      if (first === undefined) return { found: 'none' };
      if (matches.length === 1 || first === prefix) return { found: 'one', id: first };
      return { found: 'several', matches: matches.slice(0, 10) };
    },
  };
}
