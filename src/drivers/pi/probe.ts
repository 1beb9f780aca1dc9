import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { resolveProgram } from '../../processes/command.ts';
import type { AgentProfile, Probe } from '../port.ts';
import { commandOf, environmentOf } from './environment.ts';

const versionMs = 9000;
/** The version whose behaviour this driver was built on and is tested against. */
const provedVersion = '0.74.2';

const ownPackage = z.object({ name: z.string().regex(/\bpi-coding-agent$/), version: z.string() });
const signIns = z.record(z.string(), z.unknown());
const customModels = z.object({ providers: z.record(z.string(), z.unknown()) });

/** Finds pi, its version and a sign-in, without starting a conversation. */
export async function probe(profile: AgentProfile): Promise<Probe> {
  const env = environmentOf(profile);
  const [program = '', ...args] = commandOf(profile);
  const resolved = await resolveProgram(program, env, process.cwd());
  if (!resolved.ok) return { found: false, warnings: [resolved.message] };
  // pi loads all of itself before it says its version, which takes seconds on a busy machine.
  const version = versionBeside(resolved.path) ?? (await printedVersion(resolved.path, args, env));
  if (version === 'none')
    return { found: false, warnings: [`${resolved.path} --version did not work within nine seconds`] };
  const warnings =
    version === provedVersion
      ? []
      : [`Stemma was proved with pi ${provedVersion}; this is ${version ?? 'an unknown version'}`];
  const home = env['PI_CODING_AGENT_DIR'] ?? join(env['HOME'] ?? homedir(), '.pi', 'agent');
  const isSignedIn = hasSignIn(home, { ...env, ...profile.secrets });
  const signIn = `run ${program} and give /login, or set the API key of a provider`;
  if (!isSignedIn) warnings.push(`pi has no sign-in in ${home}: ${signIn}`);
  if (profile.sandbox === 'workspace')
    warnings.push(
      'pi has no sandbox, so nothing enforces sandbox: workspace; readOnly takes the writing tools away',
    );
  const signedIn = isSignedIn ? ({ signedIn: 'yes' } as const) : ({ signedIn: 'no', signIn } as const);
  return { found: true, ...(version === undefined ? {} : { version }), ...signedIn, warnings };
}

/** The version that the package of this program has, if it lies in the package. */
function versionBeside(program: string): string | undefined {
  try {
    const file = join(dirname(realpathSync(program)), '..', 'package.json');
    return ownPackage.safeParse(parseJson(readFileSync(file, 'utf8'))).data?.version;
  } catch {
    return undefined;
  }
}

function printedVersion(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: { ...env }, timeout: versionMs, encoding: 'utf8' as const };
    execFile(program, [...args, '--version'], options, (error, stdout) =>
      resolve(error ? 'none' : /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0]),
    );
  });
}

function hasSignIn(home: string, env: Readonly<Record<string, string>>): boolean {
  const isKey =
    /_API_KEY$|^ANTHROPIC_OAUTH_TOKEN$|^AWS_(PROFILE|ACCESS_KEY_ID|BEARER_TOKEN_BEDROCK)$|_TOKEN$/;
  if (Object.entries(env).some(([name, value]) => isKey.test(name) && value !== '')) return true;
  const stored = signIns.safeParse(readJson(join(home, 'auth.json'))).data ?? {};
  // A provider of the user's own brings its own key.
  const own = customModels.safeParse(readJson(join(home, 'models.json'))).data?.providers ?? {};
  return Object.keys(stored).length + Object.keys(own).length > 0;
}

function readJson(file: string): unknown {
  try {
    return parseJson(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
