import type { IdKinds, IdResolution, Queries, Resolution, ResolvableKind } from '../api/ports.ts';
import { StemmaError } from '../base/errors.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import { executionKinds, executionStates } from '../contract/execution.ts';
import type { ListQuery, Page } from '../contract/page.ts';
import { defaultLimit } from '../contract/page.ts';
import type { Execution } from '../ledger/execution.ts';
import type { Session as WireSession } from '../contract/session.ts';
import { ask } from '../ledger/questions.ts';
import type { Session } from '../ledger/session.ts';
import type { Page as ViewPage, Tree } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';
import { toExecution, toMonitorRow, toNotice, toRun, toSession, toTree } from './wire.ts';

/** Most executions that one answer shows of a tree. */
const largestTree = 10_000;
/** How much of each tree the monitor looks at to say what holds it. */
const monitorDepth = 500;
const emptyTree: Tree = {
  executions: [],
  notices: [],
  holds: [],
  held: [],
  turns: [],
  steers: [],
  isCut: false,
};

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
    );
  };
  const execution = (id: ExecutionId): Promise<Execution | undefined> =>
    store.read(() => ask('execution', id));
  return {
    async executions(filter) {
      if (filter.schedule !== undefined || filter.label !== undefined) return { items: [] };
      const page = await views.executions({
        ...paging(filter),
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
    async tree(id) {
      const row = await execution(id);
      const root = row ? await execution(row.rootId) : undefined;
      const rows = root ? await views.tree(root.id, { limit: largestTree }) : undefined;
      return root && rows ? toTree(root, rows, clock.now()) : undefined;
    },
    async monitor(filter) {
      const roots = await views.liveRoots(filter.limit ?? defaultLimit);
      const chosen = roots.filter(
        ({ root }) => filter.project === undefined || root.project === filter.project,
      );
      const rows = await Promise.all(
        chosen.map(async (live) => {
          const rows = (await views.tree(live.root.id, { limit: monitorDepth })) ?? emptyTree;
          return toMonitorRow(live, rows, await session(live.root.runsIn), clock.now());
        }),
      );
      return {
        items: rows.sort((a, b) => Number(b.waiting?.for === 'input') - Number(a.waiting?.for === 'input')),
      };
    },
    async notices(filter) {
      const page = await views.notices({
        ...paging(filter),
        ...chosen('state', filter.state, noticeStates),
        ...idOf('sessionId', 'session', filter.session),
      });
      return toPage(page, toNotice);
    },
    async notice(id) {
      const row = await store.read(() => ask('notice', id));
      return row ? toNotice(row) : undefined;
    },
    async sessions(filter) {
      const page = await views.sessions({
        ...paging(filter),
        ...chosen('state', filter.state, ['cold', 'live', 'stopped'] as const),
        ...(filter.project === undefined ? {} : { project: filter.project }),
      });
      return { ...toPage(page, (row) => row), items: await Promise.all(page.items.map(shownSession)) };
    },
    async session(id) {
      const row = await session(id);
      return row ? shownSession(row) : undefined;
    },
    async runs(filter) {
      const page = await views.runs({
        ...paging(filter),
        ...chosen('state', filter.state, ['running', 'ended'] as const),
        ...(filter.project === undefined ? {} : { project: filter.project }),
      });
      const items = await Promise.all(page.items.map((row) => views.run(row.id)));
      const shown = items.flatMap((row) => (row ? [row] : []));
      return {
        items: await Promise.all(
          shown.map(async (row) => toRun(row.run, row.messages, await session(row.run.sessionId))),
        ),
        ...(page.next === undefined ? {} : { nextCursor: page.next }),
      };
    },
    async run(id) {
      const row = await views.run(id);
      return row ? toRun(row.run, row.messages, await session(row.run.sessionId)) : undefined;
    },
  };
}

function paging(filter: ListQuery): { limit: number; cursor: string | undefined } {
  return { limit: filter.limit ?? defaultLimit, cursor: filter.cursor };
}

function toPage<Row, Item>(page: ViewPage<Row>, to: (row: Row) => Item): Page<Item> {
  return { items: page.items.map(to), ...(page.next === undefined ? {} : { nextCursor: page.next }) };
}

/** A filter by a word of a list. A word that is not in it is an error of the caller, not an empty answer. */
function chosen<K extends string, T extends string>(
  name: K,
  value: string | undefined,
  words: readonly T[],
): { [P in K]?: T } {
  if (value === undefined) return {};
  const word = words.find((known) => known === value);
  if (word === undefined) {
    throw new StemmaError('INVALID_INPUT', `"${value}" is no ${name}; it is one of ${words.join(', ')}.`, {
      issues: [{ path: name, message: `must be one of ${words.join(', ')}` }],
    });
  }
  return { [name]: word } as { [P in K]?: T };
}

function idOf<K extends string, Kind extends ResolvableKind>(
  name: K,
  kind: Kind,
  value: string | undefined,
): { [P in K]?: IdKinds[Kind] } {
  if (value === undefined) return {};
  if (isId(kind, value)) return { [name]: value } as unknown as { [P in K]?: IdKinds[Kind] };
  throw new StemmaError('INVALID_INPUT', `"${value}" is no id of a ${kind}.`, {
    issues: [{ path: name, message: `must be the id of a ${kind}` }],
  });
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
