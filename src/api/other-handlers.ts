import { StemmaError } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import { otherPaths } from '../contract/routes.ts';
import { toInstant } from '../contract/text.ts';
import { includesScope } from './authentication.ts';
import { find, listFilter } from './finding.ts';
import type { HandlerContext, HandlersOf } from './route-request.ts';
import type { Principal } from './ports.ts';
import { present, valueOf } from './problems.ts';

type NoticeNames = 'listNotices' | 'waiveNotice' | 'redeliverNotice';
type RunNames = 'listRuns' | 'createRun' | 'getRun' | 'cancelRun' | 'resumeRun' | 'rerunRun';
type ServerNames =
  | 'monitor'
  | 'listAgents'
  | 'checkAgent'
  | 'createSignInLink'
  | 'me'
  | 'settings'
  | 'version';

/** The routes about agents and the server itself. */
export function serverHandlers(context: HandlerContext): HandlersOf<ServerNames> {
  const { ports } = context;
  return {
    monitor: async ({ query }) => {
      // The cursor first: what is committed between the two is then seen twice, never missed.
      const eventCursor = ports.feed.currentCursor();
      return { ...(await ports.queries.monitor(await listFilter(ports, query))), eventCursor };
    },
    listAgents: async ({ query }) => {
      const { agents } = ports;
      return { items: [...(query.check === 'true' ? await agents.listChecked() : agents.list())] };
    },
    checkAgent: async ({ parameter }) => valueOf(await ports.agents.check(parameter)),
    createSignInLink: async ({ body: { scope } }) => {
      const { code, expiresAtMs } = await ports.access.createSignInCode(scope);
      const url = `${context.pageUrl()}${otherPaths.signIn}?code=${encodeURIComponent(code)}`;
      return { url, expiresAt: toInstant(expiresAtMs) };
    },
    me: async ({ call: { caller } }) =>
      caller.kind === 'api'
        ? { name: caller.name, scope: caller.scope }
        : { name: caller.kind, scope: 'read' as const },
    settings: () => ports.settings.read(),
    version: async () => {
      const { configFile } = ports.health;
      const config = configFile === undefined ? {} : { configFile };
      return { name: 'stemma' as const, version: ports.health.version(), ...config };
    },
  };
}

/** The routes about notices. */
export function noticeHandlers({ ports }: HandlerContext): HandlersOf<NoticeNames> {
  const { queries, ids } = ports;
  return {
    listNotices: async ({ query }) => queries.notices(await listFilter(ports, query)),
    waiveNotice: async ({ parameter, body, call }) => {
      const id = await find(ids, 'notice', parameter);
      valueOf(await ports.notices.waive(id, body.reason, call));
      return present(await queries.notice(id), id);
    },
    redeliverNotice: async ({ parameter, body, call }) => {
      const id = await find(ids, 'notice', parameter);
      valueOf(await ports.notices.redeliver(id, body.reason, call));
      return present(await queries.notice(id), id);
    },
  };
}

/** The routes about runs. */
export function runHandlers({ ports }: HandlerContext): HandlersOf<RunNames> {
  const { queries, ids, runs, standingRuns } = ports;
  return {
    listRuns: async ({ query }) => queries.runs(await listFilter(ports, query)),
    createRun: async ({ body, call }) => {
      if (body.agents !== undefined) checkMayDefineAgents(call.caller);
      return valueOf(await runs.create(body, call));
    },
    getRun: async ({ parameter, query }) => {
      // A run that a schedule is about to begin has its id before it is there.
      const id = isId('run', parameter) ? parameter : await find(ids, 'run', parameter);
      return present(await queries.run(id, query), id);
    },
    cancelRun: async ({ parameter, body, call }) => {
      const id = await find(ids, 'run', parameter);
      valueOf(await runs.cancel(id, body.reason, call));
      return present(await queries.run(id), id);
    },
    resumeRun: async ({ parameter, call }) => {
      const id = await find(ids, 'run', parameter);
      valueOf(await standingRuns.resume(id, call));
      return present(await queries.run(id), id);
    },
    rerunRun: async ({ parameter, body, call }) => {
      const id = await find(ids, 'run', parameter);
      valueOf(await standingRuns.rerun(id, body, call));
      return present(await queries.run(id), id);
    },
  };
}

// A profile names a program to run with an environment: that is more than to send a message to one.
function checkMayDefineAgents(caller: Principal): void {
  if (caller.kind === 'api' && includesScope(caller.scope, 'admin')) return;
  throw new StemmaError('FORBIDDEN', 'Agent profiles in a run need a token with the scope admin.', {
    needs: 'admin',
  });
}
