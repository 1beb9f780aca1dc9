import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { resolveProgram } from '../../processes/command.ts';
import { findProgramVersion } from '../../processes/program-version.ts';
import type { AgentProfile, Probe } from '../port.ts';
import { configDirectoryOf, environmentOf, isConfined } from './command-line.ts';

/** The version whose behaviour this driver was built on and is tested against. */
const provedVersion = '2.1.332';

/** Finds the program, its version and its sign-in, without a conversation and without a turn of the model. */
export async function probe(profile: AgentProfile): Promise<Probe> {
  const env = environmentOf(profile);
  const [program = 'claude', ...args] = profile.command;
  const looked = await findProgramVersion([program, ...args], env);
  if (!looked.found) return { found: false, warnings: [looked.message] };
  const { version } = looked;
  const signedIn = signInOf(env);
  const signIn = `"CLAUDE_CONFIG_DIR=${configDirectoryOf(env)} ${program}" and /login, or give the profile an ANTHROPIC_API_KEY`;
  const warnings = [
    ...(version === provedVersion
      ? []
      : [`Stemma was proved with Claude Code ${provedVersion}; this is ${version ?? 'an unknown version'}`]),
    ...(signedIn === 'no' ? [`Claude Code has no sign-in in ${configDirectoryOf(env)}; run ${signIn}`] : []),
    ...(await sandboxWarnings(profile, env)),
  ];
  const known = version === undefined ? {} : { version };
  return { found: true, ...known, signedIn, ...(signedIn === 'yes' ? {} : { signIn }), warnings };
}

const keys = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
];

const settings = z.object({
  apiKeyHelper: z.string().optional().catch(undefined),
  env: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

function signInOf(env: Readonly<Record<string, string>>): 'yes' | 'no' | 'unknown' {
  const home = configDirectoryOf(env);
  if (keys.some((name) => (env[name] ?? '') !== '')) return 'yes';
  if (existsSync(join(home, '.credentials.json'))) return 'yes';
  const said = settings.safeParse(parseJson(read(join(home, 'settings.json')))).data;
  if (said?.apiKeyHelper || keys.some((name) => said?.env?.[name] !== undefined)) return 'yes';
  // There the sign-in is in the keychain, which only the program itself may read.
  return process.platform === 'darwin' ? 'unknown' : 'no';
}

async function sandboxWarnings(
  profile: AgentProfile,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const warnings: string[] = [];
  if (profile.sandbox === 'readOnly' && profile.onQuestion === 'allow')
    warnings.push('onQuestion: allow cannot lift sandbox: readOnly; what Claude would ask for is refused');
  if (!isConfined(profile) || process.platform !== 'linux') return warnings;
  for (const name of ['bwrap', 'socat']) {
    if ((await resolveProgram(name, env, process.cwd())).ok) continue;
    warnings.push(
      `sandbox: ${profile.sandbox} needs ${name}, which is not installed: commands run in no sandbox, and only those that are allowed one by one`,
    );
  }
  return warnings;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
