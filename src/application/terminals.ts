import type { Answer, Refusal, TerminalView, Terminals } from '../api/ports.ts';
import type { SessionId } from '../base/ids.ts';
import { ask } from '../ledger/questions.ts';
import type { Terminals as TerminalPort } from '../terminal/port.ts';
import type { ScreenFound } from '../turns/screen.ts';
import type { ApplicationContext } from './context.ts';

/** Terminals of sessions, as the edge attaches to them. */
export function createTerminals(context: ApplicationContext, terminals: TerminalPort): Terminals {
  const { store, sessions } = context;
  return {
    async attach(id, viewer): Promise<Answer<TerminalView>> {
      const session = await store.read(() => ask('session', id));
      if (!session) return { ok: false, code: 'NOT_FOUND', message: `No session ${id}.`, data: { id } };
      const found = await sessions.of(id).screen();
      if (!found.ok) return refusal(id, session.agent, found);
      const opened = await terminals.view(id, found.screen, viewer);
      if (opened.ok) return { ok: true, value: opened.view };
      const message = `Session ${id} has no terminal: ${opened.message}`;
      return { ok: false, code: 'TERMINAL_UNAVAILABLE', message, data: { agent: session.agent } };
    },
    async watch(id, viewer): Promise<Answer<TerminalView>> {
      const session = await store.read(() => ask('session', id));
      if (!session) return { ok: false, code: 'NOT_FOUND', message: `No session ${id}.`, data: { id } };
      const opened = await terminals.watch(id, viewer);
      if (opened.ok) return { ok: true, value: opened.view };
      const message = `Session ${id} has nothing to watch: ${opened.message}. Who may operate it opens its terminal with "stemma session attach ${id}".`;
      return { ok: false, code: 'TERMINAL_UNAVAILABLE', message, data: { agent: session.agent } };
    },
  };
}

function refusal(id: SessionId, agent: string, found: Extract<ScreenFound, { ok: false }>): Refusal {
  const { code, why } = found;
  const data = { agent };
  switch (code) {
    case 'STOPPING':
      return { ok: false, code, message: 'The server is stopping; it opens no terminal any more.', data };
    case 'SESSION_STOPPED':
      return { ok: false, code, message: `Session ${id} was stopped; send it a message first.`, data };
    case 'TERMINAL_UNAVAILABLE':
      return {
        ok: false,
        code,
        message: `The agent ${agent} of session ${id} has no screen of its own; the page shows what it says.`,
        data,
      };
    case 'AGENT_FAILED': {
      const told = why?.message ?? 'its agent has ended; try again';
      const known = why?.code === 'AGENT_UNAVAILABLE' || why?.code === 'SESSION_GONE' ? why.code : code;
      return {
        ok: false,
        code: known,
        message: `The conversation of session ${id} is not open: ${told}`,
        data,
      };
    }
  }
}

/**
 * Ends the terminals of sessions as soon as these are no longer live: their agents are gone, and a screen that shows nothing
 * must not be typed into. Returns the way to stop.
 */
export function closeTerminals(context: ApplicationContext, terminals: TerminalPort): () => void {
  return context.store.onCommit(({ events }) => {
    for (const { type, sessionId, data } of events)
      if (type === 'session.state' && data['state'] !== 'live' && sessionId !== null)
        void terminals.close(sessionId);
  });
}
