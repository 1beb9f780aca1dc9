import type { Context } from 'hono';
import type { RawData, WebSocket } from 'ws';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { StemmaError } from '../base/errors.ts';
import { parseJson } from '../base/parse-json.ts';
import type { TerminalEnded } from '../contract/terminal.ts';
import { terminalQuery, viewerMessage } from '../contract/terminal.ts';
import { authorize, includesScope } from './authentication.ts';
import type { ApiContext, ApiEnv } from './context.ts';
import { find } from './finding.ts';
import type { TerminalView, TerminalViewer } from './ports.ts';
import { valueOf } from './problems.ts';
import { parseQuery, recoveringError, stoppingError } from './route-server.ts';

/** Codes with which a terminal's socket is closed (RFC 6455, section 7.4.1). */
const closeCodes = { ended: 1000, goingAway: 1001, unsupported: 1003 } as const;

/** What a socket needs to know. */
interface SocketSettings {
  readonly clock: Clock;
  /** Bytes that may wait for a viewer that does not read, before the terminal is paused for it. */
  readonly bufferBytes: number;
  readonly keepAliveMs: number;
  /** Aborted when the view has to end, with the reason as a text. */
  readonly closing: AbortSignal;
}

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
  const { readOnly, ...size } = parseQuery(terminalQuery, c.req.queries());
  const mayType = principal.kind === 'api' && includesScope(principal.scope, 'operate');
  const id = await find(ports.ids, 'session', c.req.param('id') ?? '');
  const early = new EarlyOutput();
  const viewer: TerminalViewer = {
    size,
    onOutput: (bytes) => early.output(bytes),
    onEnd: (reason) => early.end(reason),
  };
  const isReadOnly = readOnly === 'true' || !mayType;
  const opened = isReadOnly ? ports.terminals.watch(id, viewer) : ports.terminals.attach(id, viewer);
  const view = valueOf(await opened);
  const about = {
    clock,
    closing,
    keepAliveMs: settings.keepAliveMs,
    bufferBytes: settings.streamBufferBytes,
  };
  upgrade.accept({
    open: (socket) => early.goOn(new TerminalSocket(socket, view, about)),
    abandon: () => view.end(),
  });
  // Node answers with the upgrade; this is what the middleware sees.
  return new Response(null, { status: 204 });
}

/** Where the output of a terminal goes. */
interface Sink {
  output(bytes: Uint8Array): void;
  end(reason: string): void;
}

/** What a terminal says before its socket is open. */
class EarlyOutput implements Sink {
  #kept: ((sink: Sink) => void)[] = [];
  #sink: Sink | undefined;

  output(bytes: Uint8Array): void {
    this.#tell((sink) => sink.output(bytes));
  }

  end(reason: string): void {
    this.#tell((sink) => sink.end(reason));
  }

  goOn(sink: Sink): void {
    this.#sink = sink;
    for (const tell of this.#kept.splice(0)) tell(sink);
  }

  #tell(tell: (sink: Sink) => void): void {
    if (this.#sink) tell(this.#sink);
    else this.#kept.push(tell);
  }
}

class TerminalSocket implements Sink {
  readonly #socket: WebSocket;
  readonly #view: TerminalView;
  readonly #settings: SocketSettings;
  #waitingBytes = 0;
  #isPaused = false;
  #isAnswered = true;
  #cancelPing: CancelTimer | undefined;

  constructor(socket: WebSocket, view: TerminalView, settings: SocketSettings) {
    this.#socket = socket;
    this.#view = view;
    this.#settings = settings;
    const { closing } = settings;
    const stop = (): void => socket.close(closeCodes.goingAway, String(closing.reason));
    if (closing.aborted) stop();
    closing.addEventListener('abort', stop, { once: true });
    socket.on('message', (data, isBinary) => this.#hear(data, isBinary));
    socket.on('pong', () => {
      this.#isAnswered = true;
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      closing.removeEventListener('abort', stop);
      this.#cancelPing?.();
      view.end();
    });
    this.#ping();
  }

  output(bytes: Uint8Array): void {
    const { bufferBytes } = this.#settings;
    this.#waitingBytes += bytes.byteLength;
    if (this.#waitingBytes > bufferBytes && !this.#isPaused) {
      this.#isPaused = true;
      this.#view.pause();
    }
    this.#socket.send(bytes, { binary: true }, () => {
      this.#waitingBytes -= bytes.byteLength;
      if (!this.#isPaused || this.#waitingBytes > bufferBytes / 4) return;
      this.#isPaused = false;
      this.#view.resume();
    });
  }

  end(reason: string): void {
    const last: TerminalEnded = { type: 'ended', reason };
    this.#socket.send(JSON.stringify(last), () => undefined);
    this.#socket.close(closeCodes.ended);
  }

  #hear(data: RawData, isBinary: boolean): void {
    const bytes = Buffer.isBuffer(data)
      ? data
      : Buffer.concat([data].flat().map((part) => Buffer.from(part as never)));
    if (isBinary) return this.#view.write(bytes);
    const said = viewerMessage.safeParse(parseJson(bytes.toString('utf8')));
    if (said.success) this.#view.resize(said.data);
    else
      this.#socket.close(closeCodes.unsupported, 'text messages are {"type":"resize","columns":…,"rows":…}');
  }

  #ping(): void {
    this.#cancelPing = this.#settings.clock.after(this.#settings.keepAliveMs, () => {
      if (!this.#isAnswered) return this.#socket.terminate();
      this.#isAnswered = false;
      this.#socket.ping();
      this.#ping();
    });
  }
}
