import { StemmaError } from '../../base/errors.ts';
import type { TerminalConnection } from '../../client/terminal.ts';
import { attachTerminal } from '../../client/terminal.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { plainLine } from '../../words/text.ts';
import type { Tty } from '../tty.ts';
import { type Options, requiredText } from '../verb.ts';

/** Ctrl-]: what telnet and many after it take for "away from here". No agent is known to use it. */
const detachKey = 0x1d;

/**
 * `stemma session attach ID`: hands this terminal over to the agent's own screen, until the person leaves it by the key, the
 * terminal ends, or a signal comes. It is given back on every one of these ways. With `--read-only` the person only sees.
 */
export async function attach(
  context: CliContext,
  [given]: readonly unknown[],
  options: Options,
): Promise<number> {
  const id = requiredText(given, 'id');
  if (context.isJson)
    throw new StemmaError('INVALID_INPUT', 'A terminal cannot be printed as JSON; leave --json out.');
  const tty = context.deps.openTty();
  if (!tty) {
    const message = 'This needs a terminal: run it at one, with neither its input nor its output redirected.';
    throw new StemmaError('INVALID_INPUT', message);
  }
  const client = await context.connect();
  const isReadOnly = options['readOnly'] === true;
  context.talk(`Attaching${isReadOnly ? ', to watch' : ''}. Ctrl-] detaches; the agent goes on.`);
  // Nothing is drawn before the terminal is ours, and nothing of it is lost.
  let show = (bytes: Uint8Array): void => void early.push(bytes);
  const early: Uint8Array[] = [];
  const connection = await attachTerminal(client.connection, {
    id,
    size: tty.size(),
    isReadOnly,
    onOutput: (bytes) => show(bytes),
  });
  takeOver(tty, connection);
  for (const bytes of early.splice(0)) tty.write(bytes);
  show = (bytes) => tty.write(bytes);
  try {
    return await context.interruptible(async (signal) => {
      signal.addEventListener('abort', () => connection.detach(), { once: true });
      const end = await connection.ended;
      tty.restore();
      signal.throwIfAborted();
      context.talk(end.how === 'ended' ? plainLine(end.reason) : words[end.how]);
      return end.how === 'lost' ? exitCodes.unreachable : exitCodes.ok;
    });
  } finally {
    tty.restore();
    connection.detach();
  }
}

const words = {
  detached: 'Detached. The agent goes on.',
  lost: 'The connection to the server broke. The agent goes on; attach again when the server is back.',
} as const;

function takeOver(tty: Tty, connection: TerminalConnection): void {
  tty.takeOver({
    onInput(bytes) {
      const at = bytes.indexOf(detachKey);
      if (at !== 0) connection.write(at < 0 ? bytes : bytes.subarray(0, at));
      if (at >= 0) connection.detach();
    },
    onResize: () => connection.resize(tty.size()),
  });
}
