import { parseRule, parseZone } from '../rule/rule.ts';
import { describeRule } from '../rule/describe.ts';
import { profilesFor, type ShellProfile } from './profiles.ts';
import { type CrontabEntry, type LeftLine, readCrontab } from './read.ts';
import { nameFor } from './names.ts';

/** What one knows beside the text of a crontab. */
export interface CrontabOptions {
  /** The zone in which cron reads times where `CRON_TZ` does not say one: that of its machine. An IANA name. */
  readonly timezone: string;
  /** Where cron starts commands where `HOME` does not say it; absolute. */
  readonly home: string;
  /** Lines name a user before the command, as in `/etc/crontab`. */
  readonly isSystem: boolean;
}

/** A part of `stemma.yaml` that says what a crontab says. */
export interface CrontabProposal {
  /** YAML, with comments; empty when there is nothing to propose. */
  readonly yaml: string;
  /** The names of the proposed schedules, in the order of their lines. */
  readonly schedules: readonly string[];
  /** The lines that could not be carried; they are comments of the YAML too. */
  readonly left: readonly LeftLine[];
}

/** What a crontab says that a configuration says otherwise, or not at all. */
const notCarried: Readonly<Record<string, string>> = {
  MAILTO: 'output is kept with each run; whom to tell of failures is said by "notify"',
  MAILFROM: 'output is kept with each run and is not mailed',
  CONTENT_TYPE: 'output is kept with each run and is not mailed',
  CONTENT_TRANSFER_ENCODING: 'output is kept with each run and is not mailed',
  RANDOM_DELAY: 'an instant is kept; say another time instead',
  LOGNAME: 'commands run as the user of the server',
};

/** Proposes schedules for a crontab: each command is the message of an agent that is a shell. Pure; never throws. */
export function proposeFromCrontab(text: string, options: CrontabOptions): CrontabProposal {
  const crontab = readCrontab(text, options.isSystem);
  const left: LeftLine[] = [...crontab.left];
  for (const { line, name, value } of crontab.settings) {
    const why = notCarried[name];
    if (why !== undefined) left.push({ line, text: `${name}=${value}`, why });
  }
  const taken: { entry: CrontabEntry; name: string; zone: string; words: string }[] = [];
  const names = new Set<string>();
  for (const entry of crontab.entries) {
    const zone = entry.settings['CRON_TZ'] ?? options.timezone;
    const words = wordsFor(entry, zone);
    if (words.why === undefined) taken.push({ entry, name: nameFor(entry, names), zone, words: words.text });
    else left.push({ line: entry.line, text: `${entry.when} ${entry.command}`, why: words.why });
  }
  left.sort((a, b) => a.line - b.line);
  const profiles = profilesFor(taken.map(({ entry }) => entry));
  const schedules = taken.map(({ entry, name, zone, words }) =>
    scheduleYaml(entry, { name, zone, words, agent: profiles.get(entry)?.name ?? '', home: options.home }),
  );
  return {
    yaml:
      taken.length + left.length === 0 ? '' : documentYaml([...new Set(profiles.values())], schedules, left),
    schedules: taken.map(({ name }) => name),
    left,
  };
}

function wordsFor(
  entry: CrontabEntry,
  timezone: string,
): { text: string; why?: undefined } | { why: string } {
  if (/^@reboot$/i.test(entry.when)) return { why: '@reboot names no time; start it with the machine' };
  const zone = parseZone(timezone);
  if ('problem' in zone) return { why: zone.problem.message };
  const parsed = parseRule({ cron: entry.when, timezone });
  return 'problem' in parsed ? { why: parsed.problem.message } : { text: describeRule(parsed.rule) };
}

const heading = `# Proposed from a crontab; look through it, then put it into stemma.yaml, with these agents behind your own.
# Each command is a message for an agent that is a shell. What differs from cron:
# - while a run is at work the next one is skipped; cron's way is "overlap: allow"
# - the latest run that was missed while the server was down is made up for; cron's way is "catchUp: { policy: none }"
# - a run ends after 4 hours; "messages: [{ text: …, timeout: 12h }]" says otherwise
# - where the clock is changed, a fixed time runs once, always
`;

function documentYaml(
  profiles: readonly ShellProfile[],
  schedules: readonly string[],
  left: readonly LeftLine[],
): string {
  const parts = [heading];
  if (profiles.length > 0) parts.push(`agents:\n${profiles.map(profileYaml).join('\n')}`);
  if (schedules.length > 0) parts.push(`schedules:\n${schedules.join('\n')}`);
  if (left.length > 0) {
    const lines = left.map(
      ({ line, text, why }) => `${comment('', `line ${line}: ${text}`)}${comment('  ', why)}`,
    );
    parts.push(`# Not carried:\n${lines.join('')}`);
  }
  return parts.join('\n');
}

function profileYaml({ name, shell, env }: ShellProfile): string {
  const variables = Object.entries(env).map(([key, value]) => {
    const advice = /TOKEN|SECRET|PASSW|CREDENTIAL|_KEY$/i.test(key)
      ? ' # better under "secrets", by reference'
      : '';
    return `      ${plainKey(key)}: ${quoted(value)}${advice}\n`;
  });
  return [
    `  ${name}:\n    driver: script\n    command: [${quoted(shell)}]\n`,
    '    workspace: shared # as cron: commands in one directory do not wait for each other\n',
    ...(variables.length === 0 ? [] : ['    env:\n', ...variables]),
  ].join('');
}

interface Placement {
  readonly name: string;
  readonly zone: string;
  readonly words: string;
  readonly agent: string;
  readonly home: string;
}

function scheduleYaml(entry: CrontabEntry, { name, zone, words, agent, home }: Placement): string {
  const message = messageText(entry);
  const lines = [
    ...entry.comments.map((text) => comment('  ', text)),
    ...(entry.user === null
      ? []
      : [comment('  ', `ran as ${entry.user}; here it runs as the user of the server`)]),
    `  ${quotedUnlessPlain(name)}: # line ${entry.line}\n`,
    `    cron: ${quoted(entry.when)} # ${printable(words)}\n`,
    `    timezone: ${zone}\n`,
    `    agent: ${agent}\n`,
    `    cwd: ${quotedUnlessPlain(directoryOf(entry, home))}\n`,
    '    messages:\n',
    `      - ${message.includes('\n') ? block(message) : quoted(message)}\n`,
  ];
  return lines.join('');
}

function directoryOf({ settings }: CrontabEntry, home: string): string {
  const own = settings['HOME'] ?? '';
  return own.startsWith('/') ? own : home;
}

/** The command as a shell reads it from its standard input; what cron would write there is a here-document. */
function messageText({ command, input }: CrontabEntry): string {
  if (input === null) return escaped(command);
  let end = 'END';
  while (input.split('\n').includes(end)) end += '_';
  return escaped(`{ ${command}\n} << '${end}'\n${input}${end}`);
}

/** Templates are the message's, not the command's: `docker ps --format '{{.Names}}'` means what it says. */
function escaped(text: string): string {
  return text.replaceAll('{{', '\\{{');
}

/** A literal block; texts that it would change are quoted instead. */
function block(text: string): string {
  if (/^\s|\s$|[^\n\t\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]|\t/u.test(text)) return quoted(text);
  return `|-\n${text
    .split('\n')
    .map((line) => (line === '' ? '' : `          ${line}`))
    .join('\n')}`;
}

/** A double-quoted scalar of YAML, for which JSON will do. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function quotedUnlessPlain(text: string): string {
  return /^(?!true$|false$|null$|yes$|no$|on$|off$)[A-Za-z/_][\w./-]*$/i.test(text) ? text : quoted(text);
}

function plainKey(key: string): string {
  return /^(?!y$|n$|yes$|no$|on$|off$|true$|false$|null$)[A-Za-z_]\w*$/i.test(key) ? key : quoted(key);
}

function comment(indent: string, text: string): string {
  return `${indent === '' ? '' : indent}# ${printable(text)}`.trimEnd() + '\n';
}

/** Comments cannot quote: what is no character of a line becomes a space. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]|\u2028|\u2029|\u0085|\ufeff/g, ' ');
}
