import type { ListedAgent } from '../application/context.ts';
import type { AgentView } from '../contract/session.ts';
import { capabilityTable } from '../drivers/conformance/capability-table.ts';

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
    declared: capabilityTable(driver.capabilities, []).map(({ name: of, value, meaning, cases }) => ({
      name: of,
      value,
      meaning,
      cases: [...cases],
    })),
    hasScreen: driver.hasScreen ?? false,
    ...said,
    ...(secrets ? { secrets: Object.keys(secrets) } : {}),
    ...(isBuiltIn ? { isBuiltIn } : {}),
    ...(install === undefined ? {} : { install }),
  };
}
