import type { AgentProfile, Capabilities, Conversation, Driver } from '../drivers/port.ts';

/** A conversation that is open in this process. */
export interface OpenSession {
  readonly profile: AgentProfile;
  readonly conversation: Conversation;
  readonly driver: Driver;
}

/** What this conversation can prove: what its driver declares, unless its program turned out to be able to less. */
export function capabilitiesOf({ conversation, driver }: OpenSession): Capabilities {
  return conversation.capabilities ?? driver.capabilities;
}
