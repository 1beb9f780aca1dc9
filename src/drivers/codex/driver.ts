import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { resolveProgram } from '../../processes/command.ts';
import type { AgentProfile, Capabilities, Driver, Probe } from '../port.ts';
import { type ServerPlace, serverPlaceOf } from './environment.ts';
import { Links } from './links.ts';
import { openConversation } from './open.ts';

const probeMs = 10_000;
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
      : [`Stemma was proved with Codex ${provedVersion}; this is ${version ?? 'an unknown version'}`];
  const signedIn = signInOf(place);
  const signIn = `CODEX_HOME=${place.home} ${program} login`;
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
