import type { SessionId } from '../base/ids.ts';
import { defaultLimit } from '../contract/page.ts';
import type { Session } from '../contract/session.ts';
import { find, listFilter } from './finding.ts';
import type { HandlerContext, HandlersOf } from './route-request.ts';
import { present, valueOf } from './problems.ts';

type Names =
  | 'listSessions'
  | 'createSession'
  | 'getSession'
  | 'getTranscript'
  | 'getMessages'
  | 'interruptSession'
  | 'stopSession'
  | 'decideCapacity';

/** The routes about sessions. */
export function sessionHandlers({ ports }: HandlerContext): HandlersOf<Names> {
  const { sessions, queries } = ports;
  const read = async (id: SessionId): Promise<Session> => present(await queries.session(id), id);
  const findSession = (text: string): Promise<SessionId> => find(ports.ids, 'session', text);
  return {
    listSessions: async ({ query }) => queries.sessions(await listFilter(ports, query)),
    createSession: async ({ body, call }) => read(valueOf(await sessions.create(body, call)).sessionId),
    getSession: async ({ parameter }) => read(await findSession(parameter)),
    getTranscript: async ({ parameter, query }) => {
      const { after, before, limit = defaultLimit } = query;
      const id = await findSession(parameter);
      const place = {
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
      };
      return sessions.transcript(id, { limit, ...place });
    },
    getMessages: async ({ parameter, query }) => {
      const { cursor, limit = defaultLimit } = query;
      const id = await findSession(parameter);
      return sessions.messages(id, { limit, ...(cursor === undefined ? {} : { cursor }) });
    },
    interruptSession: async ({ parameter, body, call }) => {
      const id = await findSession(parameter);
      valueOf(await sessions.interrupt(id, body.reason, call));
      return read(id);
    },
    stopSession: async ({ parameter, body, call }) => {
      const id = await findSession(parameter);
      valueOf(await sessions.stop(id, body.reason, call));
      return read(id);
    },
    decideCapacity: async ({ parameter, body, call }) => {
      const id = await findSession(parameter);
      valueOf(await sessions.decideCapacity(id, body.action, call));
      return read(id);
    },
  };
}
