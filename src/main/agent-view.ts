import type { ListedAgent } from '../application/context.ts';
import type { AgentView } from '../contract/session.ts';

/** A profile as it is shown. Its environment is not, since it may hold secrets; of its secrets, the names. */
export function shownAgent({ profile, driver, isBuiltIn, install }: ListedAgent): AgentView {
  const {
    name,
    command,
    env: _,
    secrets,
    driver: __,
    questionTimeoutMs: ___,
    idleMs: ____,
    ...said
  } = profile;
  return {
    name,
    driver: driver.kind,
    command: [...command],
    capabilities: { ...driver.capabilities },
    ...said,
    ...(secrets ? { secrets: Object.keys(secrets) } : {}),
    ...(isBuiltIn ? { isBuiltIn } : {}),
    ...(install === undefined ? {} : { install }),
  };
}
