import { describeError } from '../../base/errors.ts';
import { findConfigFile } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { formatDuration } from '../durations.ts';
import { exitCodes } from '../exit.ts';
import type { AgentCheckReport } from '../ports.ts';
import { printPage } from '../table.ts';
import { plainBlock, plainLine } from '../text.ts';
import { type Options, type Registrar, requiredText, textOf } from '../verb.ts';

/** `stemma agent ls | check`. */
export function addAgentVerbs({ program, verb }: Registrar): void {
  const agent = program.command('agent').description('the agent profiles: list, check');
  agent.command('ls').description('list the agent profiles of the server').action(verb(list));
  agent
    .command('check')
    .description('find the program of a profile and its version; needs no server')
    .argument('<name>', 'the profile')
    .option('--turn', 'also hold one turn with it: costs a few tokens')
    .option('--config <file>', 'the configuration file (else STEMMA_CONFIG, else ./stemma.yaml)')
    .action(verb(check));
}

async function list(context: CliContext): Promise<number> {
  const client = await context.connect();
  const page = await client.call('listAgents');
  const rows = page.items.map(({ name, driver, model, command }) => [
    plainLine(name),
    plainLine(driver),
    plainLine(model ?? ''),
    plainLine(command.join(' ')),
  ]);
  return printPage(context, page, ['NAME', 'DRIVER', 'MODEL', 'COMMAND'], rows, 'There is no agent profile.');
}

async function check(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const report = await reportOn(context, requiredText(args[0]), options);
  if (context.isJson) context.document(report);
  else printReport(context, report);
  if (!report.found) return describeError('AGENT_UNAVAILABLE').exit;
  return report.turn?.ok === false ? exitCodes.failed : exitCodes.ok;
}

// A server that was named knows its own profiles and its own machine; a turn is held here, where it disturbs nobody.
async function reportOn(context: CliContext, name: string, options: Options): Promise<AgentCheckReport> {
  const turn = options['turn'] === true;
  const { cwd, env, checkAgentOffline } = context.deps;
  if (context.isServerNamed && !turn) return (await context.connect()).call('checkAgent', { id: name });
  const configFile = findConfigFile(cwd, textOf(options['config']) ?? env['STEMMA_CONFIG']);
  return checkAgentOffline({ name, turn, cwd, ...(configFile === undefined ? {} : { configFile }) });
}

function printReport(context: CliContext, { name, found, version, warnings, turn }: AgentCheckReport): void {
  context.data(
    `${plainLine(name)}: ${found ? `found${version === undefined ? '' : `, version ${plainLine(version)}`}` : 'not found'}`,
  );
  for (const warning of warnings) context.data(`- ${plainLine(warning)}`);
  if (turn)
    context.data(
      `turn: ${turn.ok ? 'ok' : 'failed'} after ${formatDuration(turn.durationMs)}: ${plainBlock(turn.text)}`,
    );
}
