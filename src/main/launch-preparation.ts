import type { Clock } from '../base/clock.ts';
import type { Redaction } from '../base/redaction.ts';
import type { AgentProfile, Driver, LaunchPermit, PrepareLaunch } from '../drivers/port.ts';
import { readSecret } from '../processes/secret-values.ts';
import { withStandIns } from './look-at-agent.ts';
import { versionMismatch } from './pinned-version.ts';

/** What the preparation of launches needs. */
export interface PreparationParts {
  readonly clock: Clock;
  /** Learns every value before it is given to anybody. */
  readonly redaction: Redaction;
  /** From where relative paths of references are meant, and where their commands run. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How long what was read when an opening began counts as read at its launch. */
const freshMs = 5000;

interface Agent {
  readonly profile: AgentProfile;
  readonly driver: Driver;
}

/**
 * What comes before each launch of this agent: its version is the one that is pinned, and its secrets are had anew.
 * Undefined when the profile says neither. The secrets are read once now, so that an agent that is only adopted cannot tell
 * them either; a launch that comes at once takes these, and each later one reads them again.
 */
export async function prepareLaunches(
  agent: Agent,
  parts: PreparationParts,
): Promise<PrepareLaunch | undefined> {
  const { profile, driver } = agent;
  if (profile.secrets === undefined && profile.version === undefined) return undefined;
  const { clock } = parts;
  const readAt = clock.monotonic();
  let early: LaunchPermit | undefined = await readSecrets(profile, parts);
  return async () => {
    const mismatch = profile.version === undefined ? undefined : await pinned(profile, driver);
    if (mismatch !== undefined) return { ok: false, message: mismatch };
    const isFresh = early?.ok === true && clock.monotonic() - readAt < freshMs;
    const permit = isFresh && early ? early : await readSecrets(profile, parts);
    early = undefined;
    return permit;
  };
}

async function pinned(profile: AgentProfile, driver: Driver): Promise<string | undefined> {
  return versionMismatch(profile, await driver.probe(withStandIns(profile)));
}

async function readSecrets(profile: AgentProfile, parts: PreparationParts): Promise<LaunchPermit> {
  const { redaction, directory, env, clock } = parts;
  const references = Object.entries(profile.secrets ?? {});
  const read = await Promise.all(
    references.map(async ([name, reference]) => {
      const secret = await readSecret(reference, { directory, env, clock });
      if (secret.ok) redaction.add(name, secret.value);
      return { name, reference, secret };
    }),
  );
  const values: Record<string, string> = {};
  for (const { name, reference, secret } of read) {
    if (secret.ok) values[name] = secret.value;
    else {
      const message = `The secret ${name} of agent "${profile.name}" cannot be had from ${reference}: ${secret.reason}.`;
      return { ok: false, message };
    }
  }
  return { ok: true, env: values };
}
