import type { Clock } from '../../base/clock.ts';
import { resolveProgram } from '../../processes/command.ts';
import { findProgramVersion } from '../../processes/program-version.ts';
import type { TerminalOrder } from '../../terminal/terminal-order.ts';
import { tmuxMissing } from '../../terminal/tmux.ts';
import type { AgentProfile, Capabilities, Driver, Probe } from '../port.ts';
import { environmentOf } from './launch.ts';
import { openScreen } from './open.ts';

const provedVersion = '2.1.332';

/** Shown by experiment with the real program; `docs/drivers/terminal.md` says by which. */
const capabilities: Capabilities = {
  // A text that waits in its queue can be neither withdrawn nor told from a person's.
  steer: 'none',
  negativeProof: 'none',
  turnEnd: 'protocol',
  backgroundTasks: true,
  wakesByItself: true,
  promptCancelsBackground: false,
  resume: 'always',
  locatesCalls: 'byId',
  limits: true,
  usage: 'tokens',
};

/** The driver for Claude Code at its own screen, in a terminal that a person may use beside us. */
export function terminalDriver({
  clock,
  order,
}: {
  readonly clock: Clock;
  readonly order: TerminalOrder;
}): Driver {
  const honours = ['model', 'effort', 'home', 'sandbox', 'onQuestion', 'secrets', 'version'] as const;
  return {
    kind: 'terminal',
    capabilities,
    hasScreen: true,
    honours,
    probe,
    open: (request) => openScreen(request, clock, order),
  };
}

async function probe(profile: AgentProfile): Promise<Probe> {
  const env = environmentOf(profile);
  const [program = 'claude', ...args] = profile.command;
  const looked = await findProgramVersion([program, ...args], env);
  if (!looked.found) return { found: false, warnings: [looked.message] };
  const { version } = looked;
  const warnings: string[] = [];
  if (version !== provedVersion)
    warnings.push(
      `Stemma was proved with Claude Code ${provedVersion} here; this is ${version ?? 'an unknown version'}`,
    );
  if (!(await resolveProgram('tmux', env, '/')).ok) warnings.push(tmuxMissing);
  return { found: true, ...(version === undefined ? {} : { version }), warnings };
}
