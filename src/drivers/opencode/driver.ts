import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { parseJson } from '../../base/parse-json.ts';
import { resolveProgram } from '../../processes/command.ts';
import type { AgentProfile, Driver, Probe } from '../port.ts';
import { dataDirectoryOf, type Place, placeOf, sandboxWarnings } from './environment.ts';
import { capabilities } from './capabilities.ts';
import { openConversation } from './open.ts';

const probeMs = 10_000;
/** The version whose behaviour this driver was built on and is tested against. */
const provedVersion = '1.18.33';

/** The driver for opencode. Each conversation has a server process of its own, which outlives this one. */
export function opencodeDriver({ clock }: { readonly clock: Clock }): Driver {
  return {
    kind: 'opencode',
    capabilities,
    honours: ['model', 'home', 'sandbox', 'onQuestion', 'questionTimeoutMs', 'secrets', 'version'],
    probe,
    open: (request) => openConversation(request, clock),
  };
}

async function probe(profile: AgentProfile): Promise<Probe> {
  const place = placeOf(profile);
  const [program = '', ...args] = place.command;
  const resolved = await resolveProgram(program, place.env, process.cwd());
  if (!resolved.ok) return { found: false, warnings: [resolved.message] };
  const printed = await run(resolved.path, [...args, '--version'], place.env);
  if (printed === undefined)
    return { found: false, warnings: [`${resolved.path} --version did not work within ten seconds`] };
  const version = /\d+\.\d+\.\d+\S*/.exec(printed)?.[0];
  const warnings =
    version === provedVersion
      ? []
      : [`Stemma was proved with opencode ${provedVersion}; this is ${version ?? 'an unknown version'}`];
  const signedIn = hasSignIn(place, profile) ? 'yes' : 'no';
  const signIn = `${program} auth login`;
  if (signedIn === 'no') warnings.push(`opencode has no sign-in that was found; run: ${signIn}`);
  return {
    found: true,
    ...(version === undefined ? {} : { version }),
    signedIn,
    ...(signedIn === 'no' ? { signIn } : {}),
    warnings: [...warnings, ...sandboxWarnings(profile)],
  };
}

/** A stored sign-in, a key in the environment, or a provider of the user's own configuration, which brings its own key. */
function hasSignIn(place: Place, { env }: AgentProfile): boolean {
  const stored = parseJson(readOr(join(dataDirectoryOf(place), 'auth.json')));
  if (typeof stored === 'object' && stored !== null && Object.keys(stored).length > 0) return true;
  if (Object.keys(place.env).some((name) => /_(API_KEY|ACCESS_KEY_ID|TOKEN)$/.test(name))) return true;
  const config = place.env['XDG_CONFIG_HOME'] ?? join(place.env['HOME'] ?? '', '.config');
  const files = ['opencode.json', 'opencode.jsonc', 'config.json'].map((name) =>
    join(config, 'opencode', name),
  );
  const named = place.env['OPENCODE_CONFIG'];
  const texts = [...files, ...(named ? [named] : [])].filter((file) => existsSync(file)).map(readOr);
  return [...texts, env?.['OPENCODE_CONFIG_CONTENT'] ?? ''].some((text) => /"provider"\s*:/.test(text));
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: { ...env }, timeout: probeMs, encoding: 'utf8' as const };
    execFile(program, args, options, (error, stdout) => resolve(error ? undefined : stdout));
  });
}
