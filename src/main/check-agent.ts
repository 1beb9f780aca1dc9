import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { StemmaError } from '../base/errors.ts';
import { Ids } from '../base/ids.ts';
import { loadConfigFile } from '../cli/config-file.ts';
import type { AgentCheckReport, AgentCheckRequest } from '../cli/ports.ts';
import type { AgentProfile, Driver, DriverEvent } from '../drivers/port.ts';
import { createAgents } from './agents.ts';
import type { Installation } from './server.ts';
import { createDrivers } from './server.ts';

/** How long the one turn of a check may take. */
const turnMs = 120_000;

/** Checks an agent without a server: whether it is there and, if asked, whether it answers. */
export async function checkAgentOffline(
  request: AgentCheckRequest,
  installation: Installation,
): Promise<AgentCheckReport> {
  const config = request.configFile === undefined ? {} : await loadConfigFile(request.configFile);
  const agent = createAgents(createDrivers(), config, installation).find(request.name);
  if (!agent) {
    throw new StemmaError('NOT_FOUND', `No agent "${request.name}" is configured.`, { name: request.name });
  }
  const probe = await agent.driver.probe(agent.profile);
  const found = { name: request.name, found: probe.found, version: probe.version, warnings: probe.warnings };
  if (!request.turn || !probe.found) return found;
  return { ...found, turn: await holdTurn(agent.driver, agent.profile, request.cwd) };
}

async function holdTurn(
  driver: Driver,
  profile: AgentProfile,
  cwd: string,
): Promise<NonNullable<AgentCheckReport['turn']>> {
  const directory = await mkdtemp(join(tmpdir(), 'stemma-check-'));
  const began = systemClock.monotonic();
  const passed = (ok: boolean, text: string): NonNullable<AgentCheckReport['turn']> => ({
    ok,
    text,
    durationMs: Math.round(systemClock.monotonic() - began),
  });
  try {
    const ids = new Ids(systemClock.now, Math.random);
    let tell: (event: DriverEvent) => void = () => undefined;
    const ended = new Promise<DriverEvent>((resolve) => {
      tell = resolve;
      systemClock.after(turnMs, () =>
        resolve({ type: 'noise', what: `no end within ${turnMs} ms`, position: 0 }),
      );
    });
    const emit = (event: DriverEvent): void => {
      if (event.type === 'turnEnded' || event.type === 'exited' || event.type === 'waiting') tell(event);
    };
    const sessionId = ids.make('session');
    const opened = await driver.open({
      sessionId,
      profile,
      cwd,
      directory,
      position: 0,
      unresolved: [],
      emit,
    });
    if (!opened.ok) return passed(false, opened.message);
    const sent = await opened.conversation.start({
      id: ids.make('turn'),
      text: 'Say hello in one short sentence.',
    });
    const event = sent.outcome === 'refused' ? undefined : await ended;
    await opened.conversation.end();
    if (event?.type === 'turnEnded')
      return passed(event.status === 'succeeded', event.answer || (event.error?.message ?? event.status));
    return passed(false, event ? JSON.stringify(event) : 'the agent refused the text');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
