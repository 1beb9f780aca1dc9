import type { AgentProfile, Probe } from '../drivers/port.ts';

/** Why the program that was found is not the one that the profile pins; undefined when it is, or none is pinned. */
export function versionMismatch(
  { name, version: wanted, command }: AgentProfile,
  { found, version, warnings }: Probe,
): string | undefined {
  if (wanted === undefined) return undefined;
  if (!found) return warnings[0] ?? `The program of agent "${name}" was not found.`;
  const isSame = version === wanted || version?.startsWith(`${wanted}.`) === true;
  if (isSame) return undefined;
  const what = version === undefined ? 'does not tell its version' : `is version ${version}`;
  return `Agent "${name}" is pinned to version ${wanted}, and ${command[0] ?? 'its program'} ${what}; install that one, or correct "version".`;
}
