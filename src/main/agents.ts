import { basename, join } from 'node:path';
import type { AgentDirectory, ListedAgent } from '../application/context.ts';
import { StemmaError } from '../base/errors.ts';
import type { AgentProfileInput, ConfigFile } from '../contract/config-file.ts';
import type { AgentProfile, Driver } from '../drivers/port.ts';
import type { Decided } from '../ledger/store.ts';
import { KeptProfiles, type ProfileRecords } from './kept-profiles.ts';
import { completeProfile } from './profiles.ts';

/** How long a profile that comes with a run may be, as JSON. Bytes. */
const largestBytes = 64 * 1024;

/** What the built-in profiles run. */
export interface BuiltIn {
  /** Program and arguments that start this program again. */
  readonly self: readonly string[];
  readonly examplesDirectory: string;
}

/**
 * The agents of a server: those that are always there, those of its configuration, which win, and those that runs brought
 * with them, kept in `records`. `directory`: of the configuration file; relative paths are meant from there. Rejects with `INVALID_CONFIG` when a profile of the configuration cannot be.
 */
export async function createAgents(
  drivers: readonly Driver[],
  config: ConfigFile,
  builtIn: BuiltIn,
  records: ProfileRecords,
  directory?: string,
): Promise<AgentDirectory> {
  const known = new Map(drivers.map((driver) => [driver.kind, driver]));
  const kinds = [...known.keys()];
  const profiles = new Map<string, AgentProfile>();
  for (const profile of builtInProfiles(builtIn)) profiles.set(profile.name, profile);
  for (const [name, input] of Object.entries(config.agents ?? {}))
    profiles.set(name, completeProfile(name, input, kinds, directory));
  const kept = await KeptProfiles.load(records);
  const profileOf = (name: string): AgentProfile | undefined => {
    const configured = profiles.get(name);
    if (configured) return configured;
    const own = kept.find(name);
    // A later version may have lost a driver; then its profiles are not there.
    // What an earlier version took as it was may still have a relative path.
    return own && kinds.includes(own.input.driver)
      ? completeProfile(name, own.input, kinds, process.cwd())
      : undefined;
  };
  const find = (name: string): { profile: AgentProfile; driver: Driver } | undefined => {
    const profile = profileOf(name);
    const driver = profile ? known.get(profile.driver) : undefined;
    return profile && driver ? { profile, driver } : undefined;
  };
  return {
    find,
    list: () =>
      [...profiles.keys()].flatMap((name) => {
        const found = find(name);
        return found ? [listed(found, config.agents?.[name] === undefined)] : [];
      }),
    add: (name, input) => addProfile(kept, kinds, name, input),
    defaultName: Object.keys(config.agents ?? {})[0] ?? 'demo',
  };
}

async function addProfile(
  kept: KeptProfiles,
  kinds: readonly string[],
  name: string,
  input: AgentProfileInput,
): Promise<Decided<string>> {
  try {
    completeProfile(name, input, kinds);
    checkSize(name, input);
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    return { ok: false, code: error.code, message: error.message, data: error.data };
  }
  return { ok: true, value: await kept.add(name, input) };
}

// All that are kept are one value of the database, written anew with each.
function checkSize(name: string, input: AgentProfileInput): void {
  if (Buffer.byteLength(JSON.stringify(input)) <= largestBytes) return;
  const text = `agents.${name}: a profile in a run may have ${largestBytes} bytes; put a larger one into stemma.yaml.`;
  throw new StemmaError('INVALID_CONFIG', text, { key: `agents.${name}`, limitBytes: largestBytes });
}

/** How the programs of agents are got. */
const installs: Readonly<Record<string, string>> = {
  claude: 'npm install -g @anthropic-ai/claude-code',
  codex: 'npm install -g @openai/codex',
  gemini: 'npm install -g @google/gemini-cli',
  opencode: 'npm install -g opencode-ai',
  pi: 'npm install -g @earendil-works/pi-coding-agent',
  qwen: 'npm install -g @qwen-code/qwen-code',
};

function listed(found: { profile: AgentProfile; driver: Driver }, isBuiltIn: boolean): ListedAgent {
  const install = installs[basename(found.profile.command[0] ?? '')];
  return { ...found, isBuiltIn, ...(install === undefined ? {} : { install }) };
}

function builtInProfiles({ self, examplesDirectory }: BuiltIn): AgentProfile[] {
  const script = join(examplesDirectory, 'demo', 'background-work.json');
  return [
    { name: 'demo', driver: 'acp', command: [...self, 'demo-agent', '--script', script] },
    { name: 'codex', driver: 'codex', command: ['codex'] },
    { name: 'opencode', driver: 'opencode', command: ['opencode'] },
    { name: 'claude', driver: 'claude', command: ['claude'] },
    { name: 'gemini', driver: 'acp', command: ['gemini', '--acp'] },
    { name: 'qwen', driver: 'acp', command: ['qwen', '--acp'] },
    { name: 'pi', driver: 'pi', command: ['pi'] },
    // Echoes its prompt: the smallest program that is an agent.
    { name: 'script', driver: 'script', command: ['cat'] },
  ];
}
