import { unescaped } from './control-lines.ts';
import type { ScreenSize } from './port.ts';

const fields = [
  'pane_width',
  'pane_height',
  'cursor_x',
  'cursor_y',
  'scroll_region_upper',
  'scroll_region_lower',
  'alternate_on',
  'wrap_flag',
  'insert_flag',
  'origin_flag',
  'alternate_saved_x',
  'alternate_saved_y',
] as const;

/** The commands whose answers say what is on a terminal's screen at one moment, and in which state its program left it. */
export function seedCommands(target: string): string[] {
  return [
    `display-message -p -t ${target} '${fields.map((name) => `#{${name}}`).join(' ')}'`,
    `capture-pane -p -e -N -t ${target}`,
    `capture-pane -p -e -N -a -q -t ${target}`,
    // The beginning of an escape sequence whose end is still to come.
    `capture-pane -p -P -C -t ${target}`,
  ];
}

/** What a new terminal of this size is fed with to be at the same point. */
export interface Seed {
  readonly size: ScreenSize;
  readonly bytes: Buffer;
}

const escape = '\u001b';

/** Reads the answers to `seedCommands`; undefined when they are none. */
export function readSeed(answers: readonly string[]): Seed | undefined {
  const [state = '', screen = '', hidden = '', begun = ''] = answers;
  const [columns, rows, x, y, top, bottom, isAlternate, wraps, inserts, isOrigin, hiddenX, hiddenY] = state
    .split(' ')
    .map(Number);
  if (!columns || !rows || x === undefined || y === undefined) return undefined;
  const isSet = (flag: number | undefined): boolean => flag === 1;
  const shown = isSet(isAlternate)
    ? [
        drawn(hidden, rows),
        // Where the cursor is when the program comes back from there.
        `${escape}[${(hiddenY ?? 0) + 1};${(hiddenX ?? 0) + 1}H`,
        `${escape}[?1049h${escape}[H${escape}[2J`,
        drawn(screen, rows),
      ]
    : [drawn(screen, rows)];
  const isRegion = top !== undefined && bottom !== undefined && (top > 0 || bottom < rows - 1);
  const isInRegion = isRegion && isSet(isOrigin);
  const parts = [
    ...[`${escape}c`, ...shown],
    isRegion ? `${escape}[${top + 1};${bottom + 1}r` : '',
    isSet(isOrigin) ? `${escape}[?6h` : '',
    isSet(inserts) ? `${escape}[4h` : '',
    isSet(wraps) ? '' : `${escape}[?7l`,
    `${escape}[${y + 1 - (isInRegion ? top : 0)};${x + 1}H`,
  ];
  const bytes = Buffer.concat([Buffer.from(parts.join(''), 'latin1'), unescaped(begun)]);
  return { size: { columns, rows }, bytes };
}

/** A captured screen, line by line where it was. Styles go on from line to line, as in the capture. */
function drawn(captured: string, rows: number): string {
  const lines = captured.split('\n').slice(0, rows);
  return `${lines.map((line, row) => `${escape}[${row + 1};1H${line}`).join('')}${escape}[0m`;
}
