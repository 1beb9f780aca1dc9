import { StemmaError } from '../base/errors.ts';
import { findNearest } from '../contract/nearest.ts';
import type { AgentProfileInput } from '../contract/config-file.ts';
import type { AgentProfile } from '../drivers/port.ts';

/** What each driver runs when a profile names no command. */
const usualCommands: Readonly<Record<string, readonly string[]>> = {
  claude: ['claude'],
  codex: ['codex'],
  opencode: ['opencode'],
  script: ['cat'],
};

/**
 * A profile as a driver takes it, from one as it is written. `kinds`: the drivers that there are. Throws `INVALID_CONFIG`
 * with the key that is wrong (`agents.NAME.driver`), which is the same key in `stemma.yaml` and in a run file.
 */
export function completeProfile(
  name: string,
  input: AgentProfileInput,
  kinds: readonly string[],
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
  const said = Object.entries({ ...input, name, command }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as unknown as AgentProfile;
}
