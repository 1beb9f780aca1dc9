import type { AgentProfile, Driver, ProfileField } from '../drivers/port.ts';

/** What a field that nobody heeds means for whoever wrote it. */
const consequences: Readonly<Record<ProfileField, string>> = {
  model: 'the agent chooses its model itself',
  effort: 'the agent chooses its effort itself',
  home: 'the agent keeps its state where it always does',
  sandbox: 'nothing confines what it runs',
  network: 'nothing keeps it from the network, or lets it there',
  onQuestion: 'it asks nobody',
  questionTimeoutMs: 'it asks nobody',
  secrets: 'it would run without them, so it is not started',
  version: 'any version is started',
};

/** How a field is called where profiles are written. */
const written: Partial<Record<ProfileField, string>> = { questionTimeoutMs: 'questionTimeout' };

/** What a profile says and its driver does nothing about: a sentence for each, for a person. */
export function unhonoured(profile: AgentProfile, driver: Pick<Driver, 'kind' | 'honours'>): string[] {
  const fields = (Object.keys(consequences) as ProfileField[]).filter(
    (field) => profile[field] !== undefined && !driver.honours.includes(field),
  );
  return fields.map(
    (field) =>
      `The profile says "${written[field] ?? field}", which the driver ${driver.kind} cannot do: ${consequences[field]}.`,
  );
}

/** Why a profile cannot be run by its driver at all; undefined when it can. */
export function whyUnusable(
  profile: AgentProfile,
  driver: Pick<Driver, 'kind' | 'honours'>,
): string | undefined {
  if (profile.secrets === undefined || driver.honours.includes('secrets')) return undefined;
  return `Agent "${profile.name}" has secrets, which the driver ${driver.kind} gives to nobody; put them into its env, or leave them out.`;
}
