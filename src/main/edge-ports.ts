import type { Agents, Health } from '../api/ports.ts';
import type { AgentDirectory } from '../application/context.ts';
import type { AgentProfile, Driver } from '../drivers/port.ts';
import type { SqliteStore } from '../store/sqlite/store.ts';

/** Where the server is in its life. */
export type ServerState = 'recovering' | 'ready' | 'stopping';

/** The agents, as the edges show and check them. */
export function agentsPorts(agents: AgentDirectory): Agents {
  return {
    list: () =>
      agents.list().map(({ profile, driver }) => ({
        ...shown(profile, driver),
        ...(profile.name === agents.defaultName ? { isDefault: true } : {}),
      })),
    async check(name) {
      const agent = agents.find(name);
      if (!agent)
        return { ok: false, code: 'NOT_FOUND', message: `No agent "${name}" is configured.`, data: { name } };
      const probe = await agent.driver.probe(agent.profile);
      return { ok: true, value: { ...probe, name, warnings: [...probe.warnings] } };
    },
  };
}

// The environment is not shown: it may hold secrets.
function shown(profile: AgentProfile, driver: Driver): ReturnType<Agents['list']>[number] {
  const { name, command, model, sandbox, onQuestion } = profile;
  return {
    name,
    driver: driver.kind,
    command: [...command],
    capabilities: { ...driver.capabilities },
    ...(model === undefined ? {} : { model }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(onQuestion === undefined ? {} : { onQuestion }),
  };
}

/** Health of the server, for probes and `/metrics`. */
export function healthPorts(
  parts: { readonly version: string; readonly state: () => ServerState },
  store: SqliteStore,
): Health {
  let commits = 0;
  let events = 0;
  store.onCommit((committed) => {
    commits++;
    events += committed.events.length;
  });
  return {
    state: parts.state,
    async isStoreUsable() {
      await store.records.readMeta('health');
      return true;
    },
    version: () => parts.version,
    metrics: () => [
      { name: 'stemma_commits_total', help: 'Commits of the ledger.', type: 'counter', value: commits },
      { name: 'stemma_events_total', help: 'Events of the ledger.', type: 'counter', value: events },
    ],
  };
}
