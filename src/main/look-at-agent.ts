import { within } from '../base/pause.ts';
import type { Clock } from '../base/clock.ts';
import type { AgentProfile, Driver, Probe } from '../drivers/port.ts';
import { unhonoured, whyUnusable } from '../turns/unhonoured.ts';
import { versionMismatch } from './pinned-version.ts';

/** The port's bound of a probe, and some more. Milliseconds. */
const lookMs = 12_000;
const late: Probe = { found: false, warnings: ['The look at its program did not come back in time.'] };

/**
 * What is found of an agent, with everything that a person should know before a message is sent to it: what its driver
 * found, another version than the pinned one, and what of the profile nobody does. Holds no turn, reads no secret, and
 * takes twelve seconds at most.
 */
export async function lookAtAgent(
  { profile, driver }: { readonly profile: AgentProfile; readonly driver: Driver },
  clock: Clock,
): Promise<Probe> {
  const looking = driver.probe(withStandIns(profile)).catch((error: unknown): Probe => {
    return { found: false, warnings: [`The look at its program failed: ${String(error)}`] };
  });
  const probe = await within(clock, lookMs, looking, late);
  if (!probe.found) return probe;
  const unusable = whyUnusable(profile, driver);
  const mismatch = driver.honours.includes('version') ? versionMismatch(profile, probe) : undefined;
  const more = [mismatch, unusable, ...unhonoured(profile, driver)].filter((text) => text !== undefined);
  return { ...probe, warnings: [...probe.warnings, ...more] };
}

/**
 * The profile with a stand-in for each secret: a driver sees that there is a key, which is all that a look needs. Secrets
 * themselves may cost a command, or ask somebody.
 */
export function withStandIns(profile: AgentProfile): AgentProfile {
  const names = Object.keys(profile.secrets ?? {});
  if (names.length === 0) return profile;
  const standIns = Object.fromEntries(names.map((name) => [name, 'given-by-reference']));
  return { ...profile, env: { ...profile.env, ...standIns } };
}
