import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import type { AgentProfileInput } from '../../src/contract/config-file.ts';
import type { AgentProfile, Driver } from '../../src/drivers/port.ts';
import { endGroup } from '../../src/processes/group.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** How one real agent program is set up against the scripted model, below a directory of its own. */
export interface AgentKit {
  /** Its name, of its profile, and in the names of tests. */
  readonly name: string;
  /** The name of its program in `.agents/node_modules/.bin`, where that is another. */
  readonly program?: string;
  /** A new driver, as a new server would have one. */
  driver(): Driver;
  /** Writes what the program needs into `directory` and says how it is run. `program`: its path. */
  profile(program: string, directory: string, model: { readonly url: string }): AgentProfileInput;
  /** The same agent as one that asks before it acts. Default: the profile. */
  asking?(profile: AgentProfile): AgentProfile;
  /** Cases that make no sense with this agent on the scripted model, each with the reason. */
  readonly cannot?: Readonly<Record<string, string>>;
  /** Ends what the conversations of a bench have left running below `directory`. */
  cleanUp?(directory: string): Promise<void>;
}

/**
 * The installed program of that name, or undefined after saying how to get it. `STEMMA_NAME`, in capitals, names another
 * one.
 */
export function findProgram(name: string): string | undefined {
  const variable = `STEMMA_${name.toUpperCase()}`;
  const program = process.env[variable] ?? join(root, '.agents/node_modules/.bin', name);
  if (existsSync(program)) return program;
  const how = `Run "node scripts/install-agents.mjs ${name}", or set ${variable}.`;
  console.warn(`\n  SKIPPED: ${program} is missing. ${how}\n`);
  return undefined;
}

/** Ends the agents whose records are in the directories of sessions below `directory`: what a test that failed left. */
export async function endRecorded(directory: string): Promise<void> {
  const sessions = join(directory, 'sessions');
  for (const name of existsSync(sessions) ? readdirSync(sessions) : []) {
    const identity = await readRecord(join(sessions, name));
    if (identity) await endGroup(identity, { graceMs: 300, clock: systemClock });
  }
}
