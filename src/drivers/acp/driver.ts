import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { launchStdio } from '../../processes/durable-stdio.ts';
import type { AgentProfile, Driver, Probe } from '../port.ts';
import { capabilities } from './capabilities.ts';
import { environmentOf, lastWords, openConversation, shortcomings } from './open.ts';
import { versionWarning } from './known-agents.ts';
import { Opening } from './opening.ts';

/** What an ACP driver needs. */
export interface AcpDriverOptions {
  readonly clock: Clock;
  /** How long an agent may take from its launch to an open conversation. Milliseconds, default 60 seconds. */
  readonly openingMs?: number;
  /** Aborted when the server stops: openings under way are given up, since nothing was told to those agents yet. */
  readonly stopping?: AbortSignal;
}

const probeMs = 8000;
const graceMs = 1000;

/**
 * The driver for any agent that speaks ACP, version 1, on stdin and stdout. It starts, interrupts and resumes; it never
 * steers, since no ACP agent says what becomes of a second text (each of four does something else with it).
 */
export function acpDriver(options: AcpDriverOptions): Driver {
  const { clock, openingMs = 60_000, stopping = new AbortController().signal } = options;
  return {
    kind: 'acp',
    capabilities,
    honours: ['model', 'home', 'onQuestion', 'questionTimeoutMs', 'secrets', 'version'],
    probe: (profile) => probe(profile, clock),
    open: (request) => openConversation(request, { clock, openingMs, stopping }),
  };
}

async function probe(profile: AgentProfile, clock: Clock): Promise<Probe> {
  const directory = await mkdtemp(join(tmpdir(), 'stemma-probe-'));
  try {
    return await probeIn(directory, profile, clock);
  } catch (error) {
    return { found: false, warnings: [String(error)] };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function probeIn(directory: string, profile: AgentProfile, clock: Clock): Promise<Probe> {
  const launch = { argv: profile.command, env: environmentOf(profile), cwd: directory, directory, clock };
  const launched = await launchStdio(launch);
  if (!launched.ok) return { found: false, warnings: [launched.message] };
  const { process } = launched;
  const opening = new Opening(process, clock, probeMs);
  process.listen({
    from: 0,
    onLine: (line, end) => opening.take(line, end),
    onNoise: (what) => opening.noise.push(what),
    onExit: (reason) => opening.exit(reason),
  });
  const initialized = await opening.initialize();
  const said = initialized.ok ? '' : await lastWords(opening, process);
  await process.end({ graceMs });
  process.close();
  if (!initialized.ok) {
    const message = initialized.why === 'error' ? initialized.error.message : initialized.message;
    return { found: true, warnings: [`It does not answer as an ACP agent: ${message}${said}`] };
  }
  const { name, version, canLoad, canResume, signIns } = initialized.agent;
  const warnings = [
    ...[versionWarning(name, version) ?? []].flat(),
    ...shortcomings(initialized.agent, profile),
    ...(canLoad || canResume ? [] : ['It cannot load conversations: when its process dies, they are gone.']),
    ...opening.noise.slice(0, 3).map((what) => `It wrote something that is not ACP: ${what}`),
  ];
  // Whether it would ask is known only when a conversation is opened: some do, some say that it is needed and it is not.
  const signIn = signIns.length === 0 ? {} : { signedIn: 'unknown' as const, signIn: signIns.join(', ') };
  return { found: true, ...(version === undefined ? {} : { version }), ...signIn, warnings };
}
