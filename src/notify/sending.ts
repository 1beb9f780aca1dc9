import type { Clock } from '../base/clock.ts';
import type { Redaction } from '../base/redaction.ts';
import { readSecret } from '../processes/secret-values.ts';
import type { Attempt } from './port.ts';
import type { Places } from './words.ts';

/** What every way of telling needs. */
export interface SendingParts {
  readonly clock: Clock;
  /** Learns every secret before it is used. */
  readonly redaction: Redaction;
  /** From where relative paths are meant, and where commands run. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where people look further; known when the server listens. */
  readonly places: () => Places;
}

/** How long an attempt may take if nobody says. Milliseconds. */
export const defaultTimeoutMs = 15_000;

/** Values by what they are for, or the attempt that failed because one could not be had. */
export type Secrets<Name extends string> =
  | { readonly ok: true; readonly values: Readonly<Partial<Record<Name, string>>> }
  | (Attempt & { readonly ok: false });

/** Reads what these references stand for now. What is no reference stands for itself: an address may be one or none. */
export async function readSecrets<Name extends string>(
  references: Readonly<Partial<Record<Name, string | undefined>>>,
  target: string,
  { clock, redaction, directory, env }: SendingParts,
): Promise<Secrets<Name>> {
  const values: Partial<Record<Name, string>> = {};
  for (const [name, reference] of Object.entries(references) as [Name, string | undefined][]) {
    if (reference === undefined) continue;
    if (!/^(env|file|cmd):/.test(reference)) {
      values[name] = reference;
      continue;
    }
    const secret = await readSecret(reference, { directory, env, clock });
    if (!secret.ok) {
      const message = `its ${name} cannot be had from ${reference}: ${secret.reason}`;
      return { ok: false, kind: 'down', message };
    }
    redaction.add(`${target}.${name}`, secret.value);
    values[name] = secret.value;
  }
  return { ok: true, values };
}
