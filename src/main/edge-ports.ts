import type { Agents, Health } from '../api/ports.ts';
import type { AgentDirectory, ListedAgent } from '../application/context.ts';
import type { Clock } from '../base/clock.ts';
import type { AgentCheck, AgentView } from '../contract/session.ts';
import type { WholeStore } from '../store/whole-store.ts';
import { shownAgent } from './agent-view.ts';
import { lookAtAgent } from './look-at-agent.ts';

/** Where the server is in its life. */
export type ServerState = 'recovering' | 'ready' | 'stopping';

/** The agents, as the edges show and check them. */
export function agentsPorts(agents: AgentDirectory, clock: Clock): Agents {
  const view = (agent: ListedAgent): AgentView => ({
    ...shownAgent(agent),
    ...(agent.profile.name === agents.defaultName ? { isDefault: true } : {}),
  });
  const looks = new Looks(clock);
  return {
    list: () => agents.list().map(view),
    listChecked: () =>
      Promise.all(agents.list().map(async (agent) => ({ ...view(agent), check: await looks.at(agent) }))),
    async check(name) {
      const agent = agents.find(name);
      if (!agent)
        return { ok: false, code: 'NOT_FOUND', message: `No agent "${name}" is configured.`, data: { name } };
      return { ok: true, value: { ...(await looks.at(agent)), name } };
    },
  };
}

/** Looks at agents; whoever asks while one goes on shares it, so that many who ask start no more than one program each. */
class Looks {
  readonly #clock: Clock;
  readonly #running = new Map<string, Promise<Omit<AgentCheck, 'name'>>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  at(agent: Pick<ListedAgent, 'profile' | 'driver'>): Promise<Omit<AgentCheck, 'name'>> {
    const { name } = agent.profile;
    const running = this.#running.get(name);
    if (running) return running;
    const look = lookAtAgent(agent, this.#clock)
      .then((probe) => ({ ...probe, warnings: [...probe.warnings] }))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, look);
    return look;
  }
}

/** Health of the server, for probes and `/metrics`. */
export function healthPorts(
  parts: { readonly version: string; readonly state: () => ServerState },
  store: WholeStore,
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
