import type { Clock } from '../../base/clock.ts';
import { Ids } from '../../base/ids.ts';
import type { AgentProfile, Driver, PrepareLaunch } from '../port.ts';
import { casesOfFaults } from './cases-of-faults.ts';
import { casesOfSteering } from './cases-of-steering.ts';
import { casesOfTurns, type ConformanceCase } from './cases-of-turns.ts';
import { casesOfWork } from './cases-of-work.ts';
import { type FaultyProfiles, plainPrompts, type Prompts } from './prompts.ts';
import {
  type CaseOutcome,
  CaseFailed,
  type CaseResult,
  CaseSkipped,
  type ConformanceReport,
  declaredAbsent,
} from './report.ts';
import { Rig, type RigOptions } from './rig.ts';
import type { TestTools } from './test-tools.ts';

/** What to check, and with what. */
export interface CheckOptions {
  readonly driver: Driver;
  readonly profile: AgentProfile;
  readonly clock: Clock;
  /** A directory of the check's own, absolute; each case makes one in it. The caller removes it. */
  readonly directory: string;
  /** How to ask this agent for each behaviour. Default: `plainPrompts`, which any agent with a model understands. */
  readonly prompts?: Prompts;
  /** Profiles of the same driver whose agents do not come up. */
  readonly faulty?: FaultyProfiles;
  /** The same agent as one that asks before it acts, for the cases about questions. Default: `profile`. */
  readonly asking?: AgentProfile;
  /** A server with tools, for the case of the tool call; see `startTestTools`. */
  readonly tools?: TestTools;
  /** Names of the cases to run; default all. `casesWithoutTurn` costs nothing. */
  readonly only?: readonly string[];
  /** How long one thing may take that the agent must do. Milliseconds, default two minutes. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
  /** What comes before each launch; see the port. */
  readonly prepareLaunch?: PrepareLaunch | undefined;
  /** Told of each case as it ends. */
  readonly onCase?: (result: CaseResult) => void;
}

/** The cases that send nothing to a model. */
export const casesWithoutTurn: readonly string[] = ['probe', 'open'];

/** Every case, in the order in which they run. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...casesOfTurns,
  ...casesOfSteering,
  ...casesOfWork,
  ...casesOfFaults,
];

/**
 * Checks that a driver keeps the contract of its port with this agent. Cases run one after the other, each with a session
 * of its own whose process is ended afterwards. Never throws; an abort of `signal` skips what is left.
 */
export async function checkDriver(options: CheckOptions): Promise<ConformanceReport> {
  const { driver, profile, clock, only, onCase } = options;
  const rigOptions: RigOptions = {
    driver,
    profile,
    clock,
    directory: options.directory,
    prompts: options.prompts ?? plainPrompts,
    faulty: options.faulty ?? {},
    asking: { ...(options.asking ?? profile), onQuestion: 'ask' },
    tools: options.tools,
    signal: options.signal ?? new AbortController().signal,
    patienceMs: options.patienceMs ?? 120_000,
    prepareLaunch: options.prepareLaunch,
    ids: new Ids(
      () => clock.now(),
      () => 0,
    ),
  };
  const cases: CaseResult[] = [];
  for (const one of conformanceCases) {
    if (only && !only.includes(one.name)) continue;
    const result = await runCase(one, rigOptions);
    cases.push(result);
    onCase?.(result);
  }
  const passed = cases.every(({ outcome }) => outcome.state !== 'failed');
  return { driver: driver.kind, profile: profile.name, passed, cases };
}

async function runCase(
  { name, title, needs, declined, run }: ConformanceCase,
  options: RigOptions,
): Promise<CaseResult> {
  const began = options.clock.monotonic();
  const result = (outcome: CaseOutcome, evidence: readonly string[]): CaseResult => {
    return { name, title, outcome, evidence, tookMs: Math.round(options.clock.monotonic() - began) };
  };
  if (options.signal.aborted) return result({ state: 'skipped', reason: 'the check was stopped' }, []);
  const absent = declined?.(options.driver.capabilities);
  if (absent !== undefined) return result(declaredAbsent(absent), []);
  const missing = needs.filter((behaviour) => options.prompts[behaviour] === undefined);
  if (missing.length > 0) {
    const reason = `this agent cannot be told to do it: no prompt was given for ${missing.join(', ')}`;
    return result({ state: 'skipped', reason }, []);
  }
  let rig: Rig;
  try {
    rig = new Rig(name, options);
  } catch (error) {
    return result({ state: 'failed', reason: `no directory for the case: ${String(error)}` }, []);
  }
  let outcome: CaseOutcome = { state: 'passed' };
  try {
    await run(rig);
  } catch (error) {
    outcome = outcomeOf(error);
  }
  const violations = await rig.close();
  // What must never happen counts also where the rest of the case made no sense.
  if (violations.length > 0) {
    const also = outcome.state === 'failed' ? `${outcome.reason}; ` : '';
    outcome = { state: 'failed', reason: also + violations.join('; ') };
  }
  return result(outcome, rig.evidence);
}

function outcomeOf(error: unknown): CaseOutcome {
  if (error instanceof CaseSkipped) return { state: 'skipped', reason: error.message };
  if (error instanceof CaseFailed) return { state: 'failed', reason: error.message };
  return {
    state: 'failed',
    reason: `the check itself broke: ${error instanceof Error ? error.stack : String(error)}`,
  };
}
