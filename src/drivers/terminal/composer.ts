import type { ScreenLine } from '../../terminal/screen-model.ts';

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

const rule = /^─{10,}/;
const prompt = /^❯(\s|$)/;
/** What stands in an empty composer as a hint, where its colour does not say that it is one. */
const hint = /^(Press up to edit queued messages|Resend your message to try again|Try ")/;

/** Reads the screen of Claude Code. Pure. */
export function readScreen(lines: readonly ScreenLine[]): Seen {
  const last = lines.findLastIndex(({ text }) => rule.test(text));
  const first = lines.slice(0, Math.max(last, 0)).findLastIndex(({ text }) => rule.test(text));
  const isBusy = lines.slice(Math.max(last, 0)).some(({ text }) => text.includes('esc to interrupt'));
  const excerpt = lines
    .flatMap(({ text }) => (text === '' ? [] : [text]))
    .slice(-6)
    .join(' / ')
    .slice(0, 400);
  const shown = first >= 0 && last > first ? lines.slice(first + 1, last) : [];
  const [head] = shown;
  if (!head || !prompt.test(head.text)) return { composer: { state: 'absent' }, isBusy, excerpt };
  const text = [head.text.slice(1), ...shown.slice(1).map((line) => line.text)]
    .map((line) => line.trim())
    .join('\n')
    .trim();
  const isEmpty = text === '' || hint.test(text) || isDim(head);
  return { composer: isEmpty ? { state: 'empty' } : { state: 'text', text }, isBusy, excerpt };
}

/** Whether what follows the prompt sign is drawn dim, as hints are. The cursor may stand on the first letter of a hint. */
function isDim({ text, lit }: ScreenLine): boolean {
  const start = text.slice(1).search(/\S/) + 1;
  const rest = text.slice(start + 1);
  return rest.trim() === '' ? lit.slice(start).trim() === '' : lit.slice(start + 1).trim() === '';
}
