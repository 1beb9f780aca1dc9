import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { StemmaError } from '../base/errors.ts';
import { findNearest } from '../base/nearest.ts';
import type { AgentProfileInput } from '../contract/config-file.ts';
import type { AgentProfile } from '../drivers/port.ts';

/** What each driver runs when a profile names no command. */
const usualCommands: Readonly<Record<string, readonly string[]>> = {
  claude: ['claude'],
  codex: ['codex'],
  opencode: ['opencode'],
  pi: ['pi'],
  script: ['cat'],
};

/**
 * A profile as a driver takes it, from one as it is written. `kinds`: the drivers that there are. `directory`: from where
 * relative paths are meant; without one they are refused. Throws `INVALID_CONFIG`
 * with the key that is wrong (`agents.NAME.driver`), which is the same key in `stemma.yaml` and in a run file.
 */
export function completeProfile(
  name: string,
  input: AgentProfileInput,
  kinds: readonly string[],
  directory?: string,
): AgentProfile {
  const key = `agents.${name}`;
  if (!kinds.includes(input.driver)) {
    const nearest = findNearest(input.driver, kinds);
    const hint = nearest === undefined ? `there are ${kinds.join(', ')}.` : `did you mean "${nearest}"?`;
    const text = `${key}.driver: there is no driver "${input.driver}"; ${hint}`;
    const data = { key: `${key}.driver`, ...(nearest === undefined ? {} : { nearest }) };
    throw new StemmaError('INVALID_CONFIG', text, data);
  }
  const command = input.command ?? usualCommands[input.driver];
  if (!command) {
    const text = `${key}.command: a profile of driver "${input.driver}" needs a command.`;
    throw new StemmaError('INVALID_CONFIG', text, { key: `${key}.command` });
  }
  const doubled = Object.keys(input.secrets ?? {}).find((variable) => input.env?.[variable] !== undefined);
  if (doubled !== undefined)
    throw wrong(`${key}.secrets.${doubled}`, 'is in env too; leave one of the two out.');
  const { args = [], questionTimeout, idleTimeout, home, secrets, ...rest } = input;
  if (questionTimeout !== undefined && input.onQuestion !== 'ask')
    throw wrong(`${key}.questionTimeout`, 'is for onQuestion: ask; with anything else nobody is asked.');
  const paths = {
    home: home && absolute(home, directory, `${key}.home`),
    secrets: secrets && absoluteFiles(secrets, directory, `${key}.secrets`),
  };
  const whole = {
    ...rest,
    ...paths,
    questionTimeoutMs: questionTimeout,
    idleMs: idleTimeout === 'never' ? 0 : idleTimeout,
    name,
    command: [...command, ...args],
  };
  const said = Object.entries(whole).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as unknown as AgentProfile;
}

function wrong(key: string, why: string): StemmaError {
  return new StemmaError('INVALID_CONFIG', `${key}: ${why}`, { key });
}

function absolute(path: string, directory: string | undefined, key: string): string {
  if (path.startsWith('~/')) return resolve(homedir(), path.slice(2));
  if (isAbsolute(path)) return path;
  if (directory !== undefined) return resolve(directory, path);
  throw wrong(key, `"${path}" is relative, and nobody knows to what; write an absolute path.`);
}

function absoluteFiles(
  secrets: Readonly<Record<string, string>>,
  directory: string | undefined,
  key: string,
): Record<string, string> {
  const prefix = 'file:';
  const entries = Object.entries(secrets).map(([name, reference]): [string, string] => {
    if (!reference.startsWith(prefix)) return [name, reference];
    const path = reference.slice(prefix.length).trim();
    return [name, `${prefix}${absolute(path, directory, `${key}.${name}`)}`];
  });
  return Object.fromEntries(entries);
}
