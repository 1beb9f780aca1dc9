/** What the agent's composer holds. `absent`: there is none on the screen, as when a dialog asks something. */
export type Composer =
  | { readonly state: 'empty' | 'absent' }
  | { readonly state: 'text'; readonly text: string };

/** What is seen on the screen. `isBusy`: it offers to interrupt a turn. The last evidence, where nothing else tells. */
export interface Seen {
  readonly composer: Composer;
  readonly isBusy: boolean;
  /** The last lines, for a person, where there is no composer. */
  readonly excerpt: string;
}

const escape = '\u001b';
const styles = new RegExp(`${escape}\\[[0-9;:]*m`, 'g');
const rule = /^─{10,}/;
const prompt = /^❯(\s|$)/;
/** What stands in an empty composer as a hint, where its colour does not say that it is one. */
const hint = /^(Press up to edit queued messages|Resend your message to try again|Try ")/;

/** Reads the screen of Claude Code, line by line with styles. Pure. */
export function readScreen(lines: readonly string[]): Seen {
  const plain = lines.map((line) => line.replace(styles, '').trimEnd());
  const last = plain.findLastIndex((line) => rule.test(line));
  const first = plain.slice(0, Math.max(last, 0)).findLastIndex((line) => rule.test(line));
  const isBusy = plain.slice(Math.max(last, 0)).some((line) => line.includes('esc to interrupt'));
  const excerpt = plain
    .filter((line) => line !== '')
    .slice(-6)
    .join(' / ')
    .slice(0, 400);
  const within = first >= 0 && last > first ? lines.slice(first + 1, last) : [];
  const shown = first >= 0 && last > first ? plain.slice(first + 1, last) : [];
  if (!prompt.test(shown[0] ?? '')) return { composer: { state: 'absent' }, isBusy, excerpt };
  const text = [shown[0]?.slice(1) ?? '', ...shown.slice(1)]
    .map((line) => line.trim())
    .join('\n')
    .trim();
  const isHint = hint.test(text) || isDim(within[0] ?? '');
  return { composer: text === '' || isHint ? { state: 'empty' } : { state: 'text', text }, isBusy, excerpt };
}

/** Whether what follows the prompt sign is drawn dim, as hints are: SGR 2, set and not reset before the first letter. */
function isDim(line: string): boolean {
  const after = line.slice(line.indexOf('❯') + 1);
  const head = new RegExp(`^(?:\\s|${escape}\\[[0-9;:]*m)*`).exec(after)?.[0] ?? '';
  // The cursor may stand on the first letter of a hint.
  const behindCursor =
    new RegExp(`^.${escape}\\[[0-9;:]*m(?:${escape}\\[[0-9;:]*m)*`).exec(after.slice(head.length))?.[0] ?? '';
  return [head, behindCursor].some((part) => new RegExp(`${escape}\\[(?:[0-9;:]*;)?2m`).test(part));
}
