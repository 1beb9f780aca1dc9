import type { Context } from 'hono';
import { StemmaError } from '../base/errors.ts';
import { terminalQuery } from '../contract/terminal.ts';
import { authorize, includesScope } from './authentication.ts';
import type { ApiContext, ApiEnv } from './context.ts';
import { find } from './finding.ts';
import type { TerminalViewer } from './ports.ts';
import { valueOf } from './problems.ts';
import { parseQuery, recoveringError, stoppingError } from './route-server.ts';
import { EarlyOutput, ViewSocket } from './view-socket.ts';

/**
 * Serves one view of a session's terminal over a WebSocket: bytes both ways as binary messages, sizes as text. Who cannot keep
 * up is paused, never cut off; who does not answer a ping is gone. Who may only read sees, and starts and types nothing.
 */
export async function serveTerminal(context: ApiContext, c: Context<ApiEnv>): Promise<Response> {
  const { ports, clock, settings, stopping } = context;
  const principal = c.get('principal');
  authorize({ needs: 'read' }, principal);
  const closing = context.openCallers.signalOf(principal);
  const state = ports.health.state();
  if (state === 'recovering') throw recoveringError();
  if (state === 'stopping' || stopping.aborted) throw stoppingError();
  const { upgrade } = c.env;
  if (!upgrade) throw new StemmaError('INVALID_INPUT', 'A terminal is a WebSocket; ask for an upgrade.');
  const { readOnly, shared, take, ...size } = parseQuery(terminalQuery, c.req.queries());
  const isOperator = principal.kind === 'api' && includesScope(principal.scope, 'operate');
  const mayType = isOperator && readOnly !== 'true';
  const id = await find(ports.ids, 'session', c.req.param('id') ?? '');
  const { streamBufferBytes: bufferBytes, keepAliveMs } = settings;
  const about = { clock, closing, keepAliveMs, bufferBytes };
  if (shared === 'true') {
    const joining = { sessionId: id, size, mayType, takes: take === 'true' };
    upgrade.accept({
      open: (socket) => context.sharedTerminals.join(new ViewSocket(socket, about), joining),
      abandon: () => undefined,
    });
    return answered();
  }
  const early = new EarlyOutput();
  const viewer: TerminalViewer = {
    size,
    onOutput: (bytes) => early.output(bytes),
    onEnd: (reason) => early.end(reason),
  };
  const view = valueOf(
    await (mayType ? ports.terminals.attach(id, viewer) : ports.terminals.watch(id, viewer)),
  );
  upgrade.accept({
    open: (socket) => {
      const viewing = new ViewSocket(socket, about);
      viewing.show(view);
      early.goOn(viewing);
    },
    abandon: () => view.end(),
  });
  return answered();
}

// Node answers with the upgrade; this is what the middleware sees.
function answered(): Response {
  return new Response(null, { status: 204 });
}
