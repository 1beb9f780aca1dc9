import type * as NodePty from '@lydell/node-pty';
import type { ScreenSize, View, Viewer, ViewOpened } from './port.ts';
import { keepingTerm, type Tmux } from './tmux.ts';

/** The bounds of a terminal's size, in cells. */
const smallest = { columns: 10, rows: 3 };
const largest = { columns: 1000, rows: 500 };

type Spawn = typeof NodePty.spawn;

/**
 * Opens a view: a client of our tmux server in a pseudo-terminal of its own, which draws the agent's screen for the size and
 * the abilities of this one viewer. `isReadOnly`: nothing goes in, and the terminal does not take its size.
 */
export async function openView(
  tmux: Tmux,
  session: string,
  viewer: Viewer,
  { isReadOnly }: { readonly isReadOnly: boolean },
): Promise<ViewOpened> {
  const program = await tmux.program();
  const spawn = await loadSpawn();
  if (program === undefined || !spawn) return { ok: false, message: noPty };
  try {
    const { columns: cols, rows } = bounded(viewer.size);
    if (viewer.keepsHistory) viewer.onOutput(await historyOf(tmux, session, rows));
    const flags = isReadOnly ? ['-f', 'read-only,ignore-size'] : [];
    const pty = spawn(program, tmux.arguments('attach-session', '-t', `=${session}`, ...flags), {
      cols,
      rows,
      name: viewer.keepsHistory ? keepingTerm : 'xterm-256color',
      cwd: '/',
      env: { ...tmux.env, TERM: viewer.keepsHistory ? keepingTerm : 'xterm-256color' },
      encoding: null,
    });
    return { ok: true, view: viewOf(pty, viewer, isReadOnly) };
  } catch (error) {
    return { ok: false, message: `no pseudo-terminal can be had: ${String(error)}` };
  }
}

/** How many lines that have scrolled away are shown to who keeps them. */
const historyLines = 2_000;

/** What has scrolled away, as bytes that leave a screen of so many rows empty below it. */
async function historyOf(tmux: Tmux, session: string, rows: number): Promise<Uint8Array> {
  const target = ['-t', `=${session}:`];
  const counted = await tmux.run(['display-message', '-p', ...target, '#{history_size}']);
  if (!counted.ok || !(Number(counted.output) > 0)) return new Uint8Array();
  const range = ['-S', String(-historyLines), '-E', '-1'];
  const history = await tmux.run(['capture-pane', '-p', '-e', ...range, ...target]);
  if (!history.ok) return new Uint8Array();
  const lines = history.output.trimEnd().split('\n');
  return Buffer.from(`${lines.join('\r\n')}\x1b[0m\r\n${'\n'.repeat(rows - 1)}`);
}

const noPty =
  'no pseudo-terminal can be had: the optional part of @lydell/node-pty for this platform is not installed. Install without --omit=optional.';

// Only who attaches needs it, and it may have been left out.
async function loadSpawn(): Promise<Spawn | undefined> {
  try {
    return (await import('@lydell/node-pty')).spawn;
  } catch {
    return undefined;
  }
}

function viewOf(pty: NodePty.IPty, viewer: Viewer, isReadOnly: boolean): View {
  let isOver = false;
  // Until it draws, its end of the terminal is no raw one yet: what is typed waits.
  let early: Uint8Array[] | undefined = [];
  const quietly = (act: () => void): void => {
    if (isOver) return;
    try {
      act();
    } catch {
      // It has just ended, which `onExit` tells.
    }
  };
  const type = (bytes: Uint8Array): void => quietly(() => pty.write(Buffer.from(bytes) as unknown as string));
  // Without an encoding it tells bytes, whatever its type says.
  pty.onData((data) => {
    if (isOver) return;
    viewer.onOutput(data as unknown as Uint8Array);
    for (const bytes of early ?? []) type(bytes);
    early = undefined;
  });
  pty.onExit(() => {
    if (isOver) return;
    isOver = true;
    viewer.onEnd('The terminal has ended. Attach again to open it anew.');
  });
  return {
    write(bytes) {
      if (isReadOnly) return;
      if (early) early.push(bytes);
      else type(bytes);
    },
    resize(size) {
      const { columns, rows } = bounded(size);
      quietly(() => pty.resize(columns, rows));
    },
    pause: () => quietly(() => pty.pause()),
    resume: () => quietly(() => pty.resume()),
    end() {
      quietly(() => pty.kill('SIGHUP'));
      isOver = true;
    },
  };
}

function bounded({ columns, rows }: ScreenSize): ScreenSize {
  const within = (value: number, low: number, high: number): number =>
    Math.min(Math.max(Math.trunc(value) || low, low), high);
  return {
    columns: within(columns, smallest.columns, largest.columns),
    rows: within(rows, smallest.rows, largest.rows),
  };
}
