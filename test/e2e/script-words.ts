/** One action of a demo script, as its README tells it. */
export type Action = Readonly<Record<string, unknown>>;

/** What a prompt that fits `when` sets in motion. */
export interface Rule {
  readonly when: string;
  readonly times?: number;
  readonly do: readonly Action[];
}

/** The script of an agent, and whatever its profile says besides. */
export interface ScriptedAgent {
  readonly rules: readonly Rule[];
  readonly otherwise?: readonly Action[];
  readonly onSession?: readonly Action[];
  readonly onInitialize?: readonly Action[];
  readonly profile?: Readonly<Record<string, unknown>>;
}

export const on = (when: string, ...actions: readonly Action[]): Rule => ({ when, do: actions });
/** The same for the first such prompt only. */
export const once = (when: string, ...actions: readonly Action[]): Rule => ({ when, times: 1, do: actions });
export const say = (text: string): Action => ({ say: text });
/** Waits until the scene's directory has this file. */
export const until = (file: string): Action => ({ until: file });
export const parallel = (...actions: readonly Action[]): Action => ({ parallel: actions });

/** Launches a background agent of the profile `shell`, whose instruction is a shell command. */
export const launch = (name: string, command: string, agent = 'shell'): Action => ({
  call: 'run_in_background',
  with: { name, instruction: command, agent },
});

/** The first line of a notice about this name, as a pattern. */
export const noticeOf = (name: string, how = '\\S+'): string =>
  `^\\[stemma ntc_\\S+ #\\d+\\] ${name} ${how} `;

/** A shell command that waits until the scene's directory has this file. */
export const gate = (file: string): string => `until [ -e ${file} ]; do sleep 0.1; done`;

/** The ids of the notices that a prompt hands over. */
export function noticesIn(prompt: string): string[] {
  return [...prompt.matchAll(/^\[stemma (ntc_\S+) #\d+\]/gm)].map((match) => match[1] ?? '');
}
