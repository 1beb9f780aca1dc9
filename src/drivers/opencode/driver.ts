import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { parseJson } from '../../base/parse-json.ts';
import { findProgramVersion } from '../../processes/program-version.ts';
import type { AgentProfile, Driver, Probe } from '../port.ts';
import { dataDirectoryOf, type Place, placeOf, sandboxWarnings } from './environment.ts';
import { capabilities } from './capabilities.ts';
import { openConversation } from './open.ts';

/** The version whose behaviour this driver was built on and is tested against. */
const provedVersion = '1.18.33';

/** The driver for opencode. Each conversation has a server process of its own, which outlives this one. */
export function opencodeDriver({ clock }: { readonly clock: Clock }): Driver {
  return {
    kind: 'opencode',
    capabilities,
    hasScreen: true,
    honours: ['model', 'home', 'sandbox', 'onQuestion', 'questionTimeoutMs', 'secrets', 'version'],
    probe,
    open: (request) => openConversation(request, clock),
  };
}

async function probe(profile: AgentProfile): Promise<Probe> {
  const place = placeOf(profile);
  const looked = await findProgramVersion(place.command, place.env);
  if (!looked.found) return { found: false, warnings: [looked.message] };
  const { version } = looked;
  const warnings =
    version === provedVersion
      ? []
      : [`Stemma was proved with opencode ${provedVersion}; this is ${version ?? 'an unknown version'}`];
  const signedIn = hasSignIn(place, profile) ? 'yes' : 'no';
  const signIn = `${place.command[0] ?? 'opencode'} auth login`;
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
