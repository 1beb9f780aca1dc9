import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { minimalEnvironment } from '../../processes/command.ts';
import type { AgentProfile, PrepareLaunch } from '../port.ts';

/** Which app-server a profile means: profiles with the same home, command and environment share one. */
export interface ServerPlace {
  /** `CODEX_HOME`. */
  readonly home: string;
  /** The server's own directory inside the home: its record, its log and, if the path is short enough, its socket. */
  readonly directory: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What comes before its launch: secrets are in nothing else, least of all in the name of the directory. */
  readonly prepareLaunch?: PrepareLaunch | undefined;
}

// Codex's own variables, and what any program needs to reach the network from where it runs.
const agentsOwn = /^(CODEX_|OPENAI_|(https?|no|all)_proxy$|SSL_CERT_)/i;

/** Where the server of this profile lives and what it runs with. Two calls give the same answer. */
export function serverPlaceOf(profile: AgentProfile, ours: NodeJS.ProcessEnv = process.env): ServerPlace {
  const own = Object.fromEntries(
    Object.entries(ours).filter((e): e is [string, string] => agentsOwn.test(e[0])),
  );
  const extra = { ...own, ...profile.env };
  const userHome = profile.env?.['HOME'] ?? ours['HOME'] ?? homedir();
  const home = resolve(profile.home ?? extra['CODEX_HOME'] ?? join(userHome, '.codex'));
  const env = minimalEnvironment({ ...extra, CODEX_HOME: home }, ours);
  const command = profile.command.length === 0 ? ['codex'] : profile.command;
  // A changed key or a changed program needs a new server; the old one serves its conversations until they are done.
  const secrets = Object.entries({ ...profile.secrets }).sort();
  const identity = JSON.stringify([
    command,
    Object.entries({ ...profile.env }).sort(),
    // Where secrets are had from, not what they are: one that was rotated is the same secret.
    ...(secrets.length > 0 ? [secrets] : []),
  ]);
  const name = createHash('sha256').update(identity).digest('hex').slice(0, 12);
  return { home, directory: join(home, 'stemma', name), command, env };
}
