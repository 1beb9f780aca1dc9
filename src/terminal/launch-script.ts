import { publishRecord } from '../processes/recorded-launch.ts';

/** What a terminal runs. */
export interface Launch {
  /** Where the record of the process goes. */
  readonly directory: string;
  readonly ticket: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The shell script that becomes the program of a terminal. It is a file that only its owner can read and that removes itself
 * first: an environment may hold secrets, and a command line is seen by everybody. The process publishes its pid and start
 * time before it is anything else. That it runs in tmux is nothing to the program: it would behave otherwise, and could reach
 * our server.
 */
export function launchScript({ directory, ticket, command, cwd, env }: Launch): string {
  return [
    'rm -f -- "$0"',
    `cd ${quoted(directory)} || exit 126`,
    `set -- ${[ticket, ...command].map(quoted).join(' ')}`,
    publishRecord.trim(),
    'unset TMUX TMUX_PANE',
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    'export TERM=tmux-256color COLORTERM=truecolor',
    `cd ${quoted(cwd)} || exit 126`,
    'exec "$@"',
    '',
  ].join('\n');
}

/** A word of a shell script. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
