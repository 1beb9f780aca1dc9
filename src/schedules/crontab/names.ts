import type { CrontabEntry } from './read.ts';

/** Programs that run another one, which says more. */
const runners = new Set(
  'sh bash dash zsh python python2 python3 node php perl ruby sudo nice ionice nohup exec env time timeout flock chronic'.split(
    ' ',
  ),
);

/** A name for the schedule of an entry that nobody has yet, from its command; adds it to `taken`. */
export function nameFor({ command }: CrontabEntry, taken: Set<string>): string {
  const words = command
    .replace(/^(?:cd\s+\S+\s*(?:&&|;)\s*)+/, '')
    .split(/\s+/)
    .filter((word) => !/^\w+=/.test(word) && !word.startsWith('-') && !/^\d/.test(word));
  const named = words.find((word) => !runners.has(base(word))) ?? words[0] ?? '';
  const plain = base(named) || 'job';
  let name = plain;
  for (let count = 2; taken.has(name); count++) name = `${plain}-${count}`;
  taken.add(name);
  return name;
}

/** `/usr/local/bin/backup.sh` as `backup`; only what may stand in the name of a schedule. */
function base(word: string): string {
  const file =
    word
      .replace(/[;|&<>()'"]+.*$/s, '')
      .split('/')
      .at(-1) ?? '';
  const stem = file.replace(/(?<=.)\.(?:sh|bash|py|pl|rb|php|js|mjs)$/, '');
  return stem
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    .slice(0, 80);
}
