import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { minimalEnvironment, resolveProgram } from '../processes/command.ts';

const callMs = 10_000;
/** Paths of unix sockets are limited to some 107 bytes. */
const longestSocketPath = 100;

/** What a call of tmux came to. `message`: its own words, or ours when it could not be run. */
export type TmuxAnswer =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: false; readonly message: string };

/** How people get tmux, since nothing can be shown without it. */
export const tmuxMissing =
  'tmux is not installed, and terminals need it. Install the package tmux (apt-get install tmux, dnf install tmux, brew install tmux).';

/** The kind of terminal that a viewer is that keeps what scrolls away. */
export const keepingTerm = 'xterm';

/**
 * The options of our own server. No key is ours but what the person types goes to the agent, nothing is drawn besides the
 * agent's screen, and nothing of the user's own configuration applies.
 */
const options: readonly (readonly string[])[] = [
  ['-g', 'status', 'off'],
  ['-g', 'prefix', 'None'],
  ['-g', 'prefix2', 'None'],
  ['-g', 'remain-on-exit', 'off'],
  ['-g', 'destroy-unattached', 'off'],
  ['-g', 'detach-on-destroy', 'on'],
  ['-g', 'history-limit', '5000'],
  ['-g', 'window-size', 'latest'],
  ['-g', 'default-terminal', 'tmux-256color'],
  ['-g', 'set-titles', 'off'],
  ['-g', 'visual-bell', 'off'],
  ['-g', 'allow-rename', 'off'],
  ['-g', 'update-environment', ''],
  ['-s', 'escape-time', '20'],
  ['-s', 'set-clipboard', 'off'],
  ['-s', 'exit-empty', 'on'],
  ['-s', 'focus-events', 'on'],
  ['-as', 'terminal-features', ',*:RGB'],
  // Viewers that keep what scrolls away are drawn on their own main screen.
  ['-as', 'terminal-features', `,${keepingTerm}:256`],
  ['-as', 'terminal-overrides', `,${keepingTerm}:smcup@:rmcup@`],
];

/** One private tmux server: its socket, and the calls that are made to it. Each is bounded by ten seconds; none throws. */
export class Tmux {
  readonly socketPath: string;
  readonly env: Readonly<Record<string, string>>;

  /** `directory`: of our data; the server belongs to it alone. */
  constructor(directory: string) {
    this.socketPath = socketPathFor(directory);
    this.env = minimalEnvironment({ TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' });
  }

  /** Where the program is; undefined when it is not installed. */
  async program(): Promise<string | undefined> {
    const resolved = await resolveProgram('tmux', this.env, '/');
    return resolved.ok ? resolved.path : undefined;
  }

  /** The arguments that name this server, before those of a command. */
  arguments(...command: string[]): string[] {
    return ['-S', this.socketPath, '-f', '/dev/null', ...command];
  }

  /** Makes one call. `input`: for commands that read a text. */
  async run(command: readonly string[], input?: string): Promise<TmuxAnswer> {
    const program = await this.program();
    if (program === undefined) return { ok: false, message: tmuxMissing };
    return new Promise((resolve) => {
      const settings = { env: this.env, cwd: '/', timeout: callMs, maxBuffer: 16 * 1024 * 1024 };
      const child = execFile(program, this.arguments(...command), settings, (error, stdout, stderr) => {
        if (!error) resolve({ ok: true, output: stdout });
        else resolve({ ok: false, message: stderr.trim() || error.message });
      });
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input ?? '');
    });
  }

  /** Begins a session, and the server with it, with our options set before anything runs in it. */
  begin(session: readonly string[]): Promise<TmuxAnswer> {
    const settings = options.flatMap((option) => ['set-option', ...option, ';']);
    // Keys that tmux would act upon are the agent's: none is left. A table that is gone already ends a chain of commands,
    // without an error, so this comes last.
    const unbound = ['root', 'prefix'].flatMap((table) => [';', 'unbind-key', '-aq', '-T', table]);
    return this.run(['start-server', ';', ...settings, 'new-session', ...session, ...unbound]);
  }
}

/** Where the socket of a data directory is: in it, or, where its path is too long for a socket, in one of the system's. */
function socketPathFor(directory: string): string {
  const near = join(directory, 'tmux');
  if (Buffer.byteLength(near) <= longestSocketPath) return near;
  const { uid } = userInfo();
  const shared = join(tmpdir(), `stemma-${uid}`);
  mkdirSync(shared, { recursive: true, mode: 0o700 });
  // Anybody may create names in the system's directory: only one that is ours alone will do.
  const found = lstatSync(shared);
  if (!found.isDirectory() || found.uid !== uid) throw new Error(`${shared} belongs to somebody else`);
  chmodSync(shared, 0o700);
  return join(shared, `tmux-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`);
}
