import { resolve } from 'node:path';
import { minimalEnvironment } from '../../processes/command.ts';
import type { AgentProfile } from '../port.ts';

// pi's own variables, those of the providers it knows, and what any program needs to reach the network from where it runs.
const agentsOwn =
  /^(PI_|ANTHROPIC_|OPENAI_|AZURE_OPENAI_|AWS_|GOOGLE_|GCLOUD_|GEMINI_|CLOUDFLARE_|HF_TOKEN$|COPILOT_GITHUB_TOKEN$|(https?|no|all)_proxy$|SSL_CERT_)|_API_KEY$/i;

/** What pi is run with: minimal, what it needs for its providers, no network of its own at start, and the profile's own. */
export function environmentOf(
  profile: AgentProfile,
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const own = Object.entries(ours).filter((e): e is [string, string] => agentsOwn.test(e[0]));
  return minimalEnvironment(
    {
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_TELEMETRY: '0',
      ...Object.fromEntries(own),
      ...profile.env,
      ...(profile.home === undefined ? {} : { PI_CODING_AGENT_DIR: resolve(profile.home) }),
    },
    ours,
  );
}

/** Program and arguments, without those of a conversation. */
export function commandOf({ command, model, effort }: AgentProfile): string[] {
  const program = command.length === 0 ? ['pi'] : command;
  return [
    ...program,
    ...(model === undefined ? [] : ['--model', model]),
    ...(effort === undefined ? [] : ['--thinking', effort]),
  ];
}
