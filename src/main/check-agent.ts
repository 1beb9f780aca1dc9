import { dirname, resolve } from 'node:path';
import type { AgentDirectory } from '../application/context.ts';
import { systemClock } from '../base/clock.ts';
import { StemmaError } from '../base/errors.ts';
import { Redaction } from '../base/redaction.ts';
import { loadConfigFile, withPlaces } from '../cli/config-file.ts';
import type { AgentCheckReport, AgentCheckRequest, AgentListing, AgentsRequest } from '../cli/ports.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import { findNearest } from '../base/nearest.ts';
import { capabilityTable } from '../drivers/conformance/capability-table.ts';
import { casesWithoutTurn, checkDriver, conformanceCases } from '../drivers/conformance/check-driver.ts';
import type { CaseResult } from '../drivers/conformance/report.ts';
import { startTestTools } from '../drivers/conformance/test-tools.ts';
import type { AgentProfile } from '../drivers/port.ts';
import { createAgents } from './agents.ts';
import { shownAgent } from './agent-view.ts';
import { planCheck } from './check-plan.ts';
import { prepareLaunches } from './launch-preparation.ts';
import { lookAtAgent } from './look-at-agent.ts';
import type { Installation } from './server.ts';
import { createDrivers } from './server.ts';

/**
 * Checks an agent without a server: finds its program and, if that is there, runs the cases that were asked for. Nothing
 * that it starts is left behind, however it ends. Rejects with `NOT_FOUND` and `INVALID_CONFIG`.
 */
export async function checkAgentOffline(
  request: AgentCheckRequest,
  installation: Installation,
): Promise<AgentCheckReport> {
  const { name, cwd, signal } = request;
  const { agents, config } = await agentsOffline(request, installation);
  const agent = agents.find(name);
  if (!agent) throw unknownAgent(name, agents);
  const only = casesOf(request);
  const { driver } = agent;
  const profile = withAbsoluteProgram(agent.profile, cwd);
  const probe = await lookAtAgent({ profile, driver }, systemClock);
  request.onFound?.({ ...probe, driver: driver.kind });
  const { found } = probe;
  const described = { ...probe, name, driver: driver.kind };
  if (!found)
    return { ...described, passed: false, cases: [], capabilities: capabilityTable(driver.capabilities, []) };
  const isBuiltIn = config.agents?.[name] === undefined;
  const plan = await planCheck({ profile, driver, isBuiltIn }, installation.self, cwd);
  const tools = await startTestTools();
  const redaction = new Redaction();
  const clean = (result: CaseResult): CaseResult => redactedCase(result, redaction);
  try {
    const prepareLaunch = await prepareLaunches(
      { profile, driver },
      { clock: systemClock, redaction, directory: directoryOf(request.configFile), env: process.env },
    );
    const { onCase } = request;
    const { passed, cases: all } = await checkDriver({
      ...plan.options,
      clock: systemClock,
      tools,
      only,
      prepareLaunch,
      ...(signal === undefined ? {} : { signal }),
      ...(onCase === undefined ? {} : { onCase: (result: CaseResult) => onCase(clean(result)) }),
    });
    const cases = all.map(clean);
    return { ...described, passed, cases, capabilities: capabilityTable(driver.capabilities, cases) };
  } finally {
    await tools.close();
    await plan.cleanUp();
  }
}

/** The agents that a server with this configuration would have. Rejects with `INVALID_CONFIG`. */
export async function listAgentsOffline(
  request: AgentsRequest,
  installation: Installation,
): Promise<AgentListing[]> {
  const { agents } = await agentsOffline(request, installation);
  return Promise.all(
    agents.list().map(async (agent) => ({
      ...shownAgent(agent),
      check: await lookAtAgent(agent, systemClock),
    })),
  );
}

function directoryOf(configFile: string | undefined): string {
  return configFile === undefined ? process.cwd() : dirname(configFile);
}

function redactedCase({ outcome, evidence, ...rest }: CaseResult, redaction: Redaction): CaseResult {
  const told = 'reason' in outcome ? { ...outcome, reason: redaction.text(outcome.reason) } : outcome;
  return { ...rest, outcome: told, evidence: evidence.map((line) => redaction.text(line)) };
}

/** The agents of a configuration, without a server. Rejects with `INVALID_CONFIG`. */
export async function agentsOffline(
  { configFile }: AgentsRequest,
  installation: Installation,
): Promise<{ readonly agents: AgentDirectory; readonly config: ConfigFile }> {
  const config = configFile === undefined ? {} : await loadConfigFile(configFile);
  const nothingKept = { readMeta: async () => undefined, writeMeta: async () => undefined };
  const agents = await withPlaces(configFile, () =>
    createAgents(createDrivers(), config, installation, nothingKept, directoryOf(configFile)),
  );
  return { agents, config };
}

// Cases work in directories of their own, where a relative path would mean something else.
function withAbsoluteProgram(profile: AgentProfile, cwd: string): AgentProfile {
  const [program = '', ...args] = profile.command;
  return program.includes('/') ? { ...profile, command: [resolve(cwd, program), ...args] } : profile;
}

function casesOf({ turn, only }: AgentCheckRequest): readonly string[] {
  const every = conformanceCases.map(({ name }) => name);
  if (only === undefined) return turn ? every : casesWithoutTurn;
  if (every.includes(only)) return [only];
  const nearest = findNearest(only, every);
  const hint = nearest === undefined ? `there are ${every.join(', ')}` : `did you mean ${nearest}?`;
  throw new StemmaError('INVALID_INPUT', `There is no case "${only}"; ${hint}`, { case: only, cases: every });
}

function unknownAgent(name: string, agents: AgentDirectory): StemmaError {
  const names = agents.list().map(({ profile }) => profile.name);
  const text = `No agent "${name}" is configured; there are ${names.join(', ')}.`;
  return new StemmaError('NOT_FOUND', text, { name, agents: names });
}
