import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { acpDriver } from '../../src/drivers/acp/driver.ts';
import { checkDriver, conformanceCases } from '../../src/drivers/conformance/check-driver.ts';
import type { CaseResult } from '../../src/drivers/conformance/report.ts';
import { startTestTools } from '../../src/drivers/conformance/test-tools.ts';
import { demoCheck } from '../../src/drivers/demo/conformance-script.ts';
import { demoProgramFromSource } from '../../src/drivers/demo/demo-from-source.ts';
import type { AgentProfile, Driver } from '../../src/drivers/port.ts';
import { scriptCheck } from '../../src/drivers/script/script-check.ts';
import { scriptDriver } from '../../src/drivers/script/script-driver.ts';
import { completeProfile } from '../../src/main/profiles.ts';
import { startModelServer } from '../model/model-server.ts';
import { type AgentKit, findProgram } from './kit.ts';
import { scriptedPrompts } from './scripted-prompts.ts';

/** One agent in the table: its driver, what it is, and how each case went. */
export interface ConformanceRow {
  readonly agent: string;
  readonly driver: string;
  /** Of the agent's program, where it has one. */
  readonly version?: string;
  readonly capabilities: Driver['capabilities'];
  readonly cases: readonly Pick<CaseResult, 'name' | 'outcome' | 'tookMs'>[];
}

/** What of a row is to be run: all cases, or `only` these; the row that is returned has no more. */
export interface Asked {
  readonly only: readonly string[];
  readonly onCase: (result: CaseResult) => void;
}

/** How one row is made. Undefined when the program is not there. */
export interface RowSource {
  readonly agent: string;
  make(asked: Asked): Promise<ConformanceRow | undefined>;
}

const patienceMs = 45_000;

/** The agents without a kit: programs of this project that do as they are told. */
export const ownRows: readonly RowSource[] = [
  {
    agent: 'demo',
    make: (asked) =>
      inDirectory('demo', (directory) => {
        const profileFor = (script: string): AgentProfile => ({
          name: 'demo',
          driver: 'acp',
          command: demoProgramFromSource('--script', script),
          env: { STEMMA_DEMO_HOME: directory },
        });
        const driver = acpDriver({ clock: systemClock, openingMs: 10_000 });
        return checkRow('demo', { driver, ...demoCheck(directory, profileFor) }, directory, asked);
      }),
  },
  {
    agent: 'script',
    make: (asked) =>
      inDirectory('script', (directory) => {
        const { command, prompts } = scriptCheck;
        const profile = { name: 'script', driver: 'script', command };
        const subject = { driver: scriptDriver({ clock: systemClock }), profile, prompts };
        return checkRow('script', subject, directory, asked);
      }),
  },
];

/** A real agent program on the scripted model. */
export function rowOf(kit: AgentKit): RowSource {
  return {
    agent: kit.name,
    make: async (asked) => {
      const program = findProgram(kit.program ?? kit.name);
      if (program === undefined) return undefined;
      return inDirectory(kit.name, async (directory) => {
        const model = await startModelServer();
        try {
          const input = kit.profile(program, directory, model);
          const profile = completeProfile(kit.name, input, [input.driver]);
          const asking = kit.asking?.(profile) ?? profile;
          const subject = { driver: kit.driver(), profile, asking, prompts: scriptedPrompts };
          return await checkRow(kit.name, subject, directory, asked, kit.cannot);
        } finally {
          await kit.cleanUp?.(directory);
          await model.stop();
        }
      });
    },
  };
}

type Subject = Pick<
  Parameters<typeof checkDriver>[0],
  'driver' | 'profile' | 'prompts' | 'faulty' | 'asking'
>;

async function checkRow(
  agent: string,
  subject: Subject,
  directory: string,
  { only: wanted, onCase }: Asked,
  cannot: Readonly<Record<string, string>> = {},
): Promise<ConformanceRow> {
  const { driver, profile } = subject;
  const { version } = await driver.probe(profile);
  const tools = await startTestTools();
  const names = conformanceCases
    .map(({ name }) => name)
    .filter((name) => wanted.length === 0 || wanted.includes(name));
  const only = names.filter((name) => cannot[name] === undefined);
  try {
    const cases = join(directory, 'cases');
    mkdirSync(cases);
    const clock = systemClock;
    const report = await checkDriver({
      ...subject,
      clock,
      directory: cases,
      tools,
      only,
      patienceMs,
      onCase,
    });
    const results = names.map((name) => {
      const found = report.cases.find((result) => result.name === name);
      if (found) return { name, outcome: found.outcome, tookMs: found.tookMs };
      const reason = cannot[name] ?? 'it was not run';
      return { name, outcome: { state: 'skipped', reason } as const, tookMs: 0 };
    });
    const about = { agent, driver: driver.kind, ...(version === undefined ? {} : { version }) };
    return { ...about, capabilities: driver.capabilities, cases: results };
  } finally {
    await tools.close();
  }
}

async function inDirectory<T>(name: string, act: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), `stemma-conformance-${name}-`));
  try {
    return await act(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
