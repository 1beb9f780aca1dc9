/** A line of a crontab that runs a command. */
export interface CrontabEntry {
  /** From 1. */
  readonly line: number;
  /** The fields of the time, or a nickname, as written. */
  readonly when: string;
  /** For the shell, without what cron itself takes out of it. */
  readonly command: string;
  /** What cron writes to the command's standard input: what stood behind the first `%`. */
  readonly input: string | null;
  /** Who it ran as; in system crontabs only. */
  readonly user: string | null;
  /** The comment lines right above it, without their `#`; an empty one separates. */
  readonly comments: readonly string[];
  /** Variables that were set above it. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A line that could not be read or carried, and why. */
export interface LeftLine {
  readonly line: number;
  readonly text: string;
  readonly why: string;
}

/** A crontab taken apart, each line once: an entry, a setting, a comment, or left. */
export interface Crontab {
  readonly entries: readonly CrontabEntry[];
  readonly left: readonly LeftLine[];
  /** Settings by the line where they stand. */
  readonly settings: readonly { readonly line: number; readonly name: string; readonly value: string }[];
}

const settingLine = /^\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z_][A-Za-z0-9_]*))\s*=\s*(.*?)\s*$/;

/**
 * Reads a crontab as crontab(5) of cron and cronie describes it. `isSystem`: lines name a user before the command, as in
 * `/etc/crontab`. Never throws: what it cannot read is among the lines that are left.
 */
export function readCrontab(text: string, isSystem: boolean): Crontab {
  const entries: CrontabEntry[] = [];
  const left: LeftLine[] = [];
  const settings: { line: number; name: string; value: string }[] = [];
  let known: Readonly<Record<string, string>> = {};
  let comments: string[] = [];
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = index + 1;
    const comment = /^\s*#\s?(.*)$/.exec(raw);
    const setting = settingLine.exec(raw);
    if (comment) {
      const words = comment[1]?.trim() ?? '';
      comments = words === '' || isColumnHeading(words) ? [] : [...comments, words];
      continue;
    }
    const name = setting?.[1] ?? setting?.[2] ?? setting?.[3] ?? '';
    if (raw.includes('\0')) left.push({ line, text: raw.trim(), why: 'it has a NUL character' });
    else if (setting && !/^[A-Za-z_]\w*$/.test(name))
      left.push({ line, text: raw.trim(), why: `"${name}" is no name of a variable` });
    else if (setting) {
      const value = unquoted(setting[4] ?? '');
      known = { ...known, [name]: value };
      settings.push({ line, name, value });
    } else if (raw.trim() !== '') {
      const entry = readEntry(raw, isSystem);
      if (typeof entry === 'string') left.push({ line, text: raw.trim(), why: entry });
      else entries.push({ ...entry, line, comments, settings: known });
    }
    comments = [];
  }
  return { entries, left, settings };
}

/** What a new crontab begins with ends in such a line, and says nothing of the entry below it. */
function isColumnHeading(comment: string): boolean {
  return /^m(?:in(?:ute)?)?\s+h(?:our)?\s/i.test(comment);
}

function unquoted(value: string): string {
  return /^(["']).*\1$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value;
}

type Entry = Pick<CrontabEntry, 'when' | 'command' | 'input' | 'user'>;

/** The parts of a line, or why it has none. */
function readEntry(raw: string, isSystem: boolean): Entry | string {
  // cronie: a minus before the minutes keeps the run out of the system's log.
  const text = raw.trim().replace(/^-(?=[\d*])/, '');
  const time = /^(@\S+|\S+\s+\S+\s+\S+\s+\S+\s+\S+)(?:\s+(.*))?$/s.exec(text);
  if (!time) return 'it is no comment, no setting and no time with a command';
  const [, when = '', rest = ''] = time;
  const user = isSystem ? /^(\S+)\s+(.*)$/s.exec(rest) : null;
  if (isSystem && !user) return 'it names no user, or no command';
  const { command, input } = splitAtPercent(user?.[2] ?? rest);
  if (command === '') return 'it has no command';
  return { when: when.split(/\s+/).join(' '), command, input, user: user?.[1] ?? null };
}

/** crontab(5): the first `%` ends the command, what follows is its input, with a new line for each further one. */
function splitAtPercent(text: string): { command: string; input: string | null } {
  const [command = '', ...input] = text.split(/(?<!\\)%/).map((part) => part.replaceAll('\\%', '%'));
  return { command: command.trim(), input: input.length === 0 ? null : `${input.join('\n')}\n` };
}
