/*
 * What a client of tmux in control mode is told, line by line (tmux(1), CONTROL MODE). Lines are bytes, written as latin1: a
 * character may be cut between two of them.
 */

/** One line. `begin` and `end` enclose the answer to a command; `isOurs`: to one that this client gave. */
export type ControlLine =
  | { readonly type: 'begin'; readonly number: string; readonly isOurs: boolean }
  | { readonly type: 'end'; readonly number: string; readonly isOk: boolean }
  /** What the program in a pane has written. */
  | { readonly type: 'output'; readonly bytes: Buffer }
  /** The client lags behind; what a pane writes is left out from here on. */
  | { readonly type: 'paused'; readonly pane: string }
  /** A window has another size. */
  | { readonly type: 'resized' }
  | { readonly type: 'other' };

const guard = /^%(begin|end|error) (\d+ \d+) (\d+)$/;
const output = /^%(?:extended-output %\d+ [^:]*: |output %\d+ )/;

/** Reads one line, without its newline. */
export function readControlLine(line: string): ControlLine {
  const [, kind, number = '', flags] = guard.exec(line) ?? [];
  if (kind === 'begin') return { type: 'begin', number, isOurs: flags === '1' };
  if (kind !== undefined) return { type: 'end', number, isOk: kind === 'end' };
  const told = output.exec(line);
  if (told) return { type: 'output', bytes: unescaped(line.slice(told[0].length)) };
  if (line.startsWith('%pause ')) return { type: 'paused', pane: line.slice('%pause '.length) };
  return line.startsWith('%layout-change ') ? { type: 'resized' } : { type: 'other' };
}

/** The bytes of a text in which tmux has written some as `\ooo`. */
export function unescaped(text: string): Buffer {
  const plain = text.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return Buffer.from(plain, 'latin1');
}
