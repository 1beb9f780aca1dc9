import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { findProgramVersion } from '../../processes/program-version.ts';
import type { AgentProfile, Capabilities, Driver, Probe } from '../port.ts';
import { type ServerPlace, serverPlaceOf } from './environment.ts';
import { Links } from './links.ts';
import { openConversation } from './open.ts';

/** The version whose behaviour this driver was built on and is tested against. */
const provedVersion = '0.171.0';

/** Shown by experiment with the real program; the README says by which. */
const capabilities: Capabilities = {
  steer: 'proven',
  negativeProof: 'turnEnd',
  turnEnd: 'protocol',
  backgroundTasks: true,
  wakesByItself: false,
  promptCancelsBackground: false,
  resume: 'always',
  locatesCalls: 'byId',
  limits: true,
  usage: 'tokens',
};

/** The driver for the Codex CLI. All conversations of one home share one app-server, which outlives this process. */
export function codexDriver({ clock }: { readonly clock: Clock }): Driver {
  const links = new Links(clock);
  return {
    kind: 'codex',
    capabilities,
    hasScreen: true,
    honours: [
      'model',
      'effort',
      'home',
      'sandbox',
      'network',
      'onQuestion',
      'questionTimeoutMs',
      'secrets',
      'version',
    ],
    probe,
    open: (request) => openConversation(request, links, clock),
  };
}

async function probe(profile: AgentProfile): Promise<Probe> {
  const place = serverPlaceOf(profile);
  const looked = await findProgramVersion(place.command, place.env);
  if (!looked.found) return { found: false, warnings: [looked.message] };
  const { version } = looked;
  const warnings =
    version === provedVersion
      ? []
      : [`Stemma was proved with Codex ${provedVersion}; this is ${version ?? 'an unknown version'}`];
  const signedIn = signInOf(place);
  const signIn = `CODEX_HOME=${place.home} ${place.command[0] ?? 'codex'} login`;
  if (signedIn === 'no') warnings.push(`Codex has no sign-in in ${place.home}; run: ${signIn}`);
  const known = version === undefined ? {} : { version };
  return { found: true, ...known, signedIn, ...(signedIn === 'yes' ? {} : { signIn }), warnings };
}

function signInOf({ home, env }: ServerPlace): 'yes' | 'no' | 'unknown' {
  if (existsSync(join(home, 'auth.json')) || env['OPENAI_API_KEY'] || env['CODEX_API_KEY']) return 'yes';
  try {
    // A provider of the user's own brings its own key, or should.
    return /^\s*model_provider\s*=/m.test(readFileSync(join(home, 'config.toml'), 'utf8')) ? 'unknown' : 'no';
  } catch {
    return 'no';
  }
}
