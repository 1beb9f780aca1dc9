import { describeError, StemmaError } from '../../base/errors.ts';
import {
  capabilityLines,
  caseHeading,
  caseLines,
  foundLines,
  hintLines,
  noteLines,
  summaryLine,
  warningLines,
} from '../agent-report.ts';
import { abilities, abilityMeanings, agentTable, isMerelyPossible } from '../agent-rows.ts';
import { findConfigFile } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import type { AgentCheckReport, AgentListing, AgentsRequest } from '../ports.ts';
import { printPage } from '../table.ts';
import { type Options, type Registrar, requiredText, textOf } from '../verb.ts';

/** How long a server may take to look for all programs; its own looks take twelve seconds at most. Milliseconds. */
const lookMs = 20_000;

/** `stemma agent ls | check`. */
export function addAgentVerbs({ program, verb }: Registrar): void {
  const agent = program.command('agent').description('the agent profiles: list, check');
  agent
    .command('ls')
    .description('the agent profiles and what is found of them; without a server, those of the configuration')
    .option(...configOption)
    .action(verb(list));
  agent
    .command('check')
    .description('check on this machine that the driver of a profile keeps its contract; needs no server')
    .argument('<name>', 'the profile')
    .option('--turn', 'also run the cases that hold turns: they cost what the model costs')
    .option('--case <case>', 'run this case alone')
    .option(...configOption)
    .action(verb(check));
}

const configOption = [
  '--config <file>',
  'the configuration file (else STEMMA_CONFIG, else ./stemma.yaml)',
] as const;

async function list(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const items = await listings(context, options);
  const { heading, rows } = agentTable(items);
  const exitCode = printPage(context, { items }, heading, rows, 'There is no agent profile.');
  if (context.isJson) return exitCode;
  const { columns } = context.style();
  for (const item of items.filter((each) => !isMerelyPossible(each))) {
    const { warnings = [], signedIn, signIn } = item.check ?? {};
    const how = signedIn === 'unknown' && signIn !== undefined ? [`sign in: ${signIn}`] : [];
    context.lines(warningLines(warnings, columns, item.name));
    context.lines(hintLines(how, columns, item.name));
  }
  if (items.some((item) => abilities(item).length > 0))
    context.lines([[], ...noteLines(abilityMeanings, columns)]);
  return exitCode;
}

// A server knows its own profiles and its own machine. Without one, or for a file that is named, they are those that a
// server would have here.
async function listings(context: CliContext, options: Options): Promise<AgentListing[]> {
  const request = agentsRequest(context, options);
  if (options['config'] !== undefined) return context.deps.listAgentsOffline(request);
  try {
    const client = await context.connect();
    const late = new AbortController();
    const cancel = client.clock.after(lookMs, () => late.abort());
    try {
      return (await client.call('listAgents', { query: { check: 'true' }, signal: late.signal })).items;
    } finally {
      cancel();
    }
  } catch (thrown) {
    const isNone = thrown instanceof StemmaError && thrown.code === 'UNREACHABLE';
    if (!isNone || context.isServerNamed || context.isDataFlag) throw thrown;
  }
  context.talk(`No server runs; these are the profiles of ${request.configFile ?? 'every server'}.`);
  return context.deps.listAgentsOffline(request);
}

async function check(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const name = requiredText(args[0], 'name');
  const only = textOf(options['case']);
  const isLive = !context.isJson;
  const { columns } = context.style();
  const report = await context.interruptible(async (signal) => {
    const checked = await context.deps.checkAgentOffline({
      ...agentsRequest(context, options),
      name,
      turn: options['turn'] === true,
      ...(only === undefined ? {} : { only }),
      cwd: context.deps.cwd,
      signal,
      onFound: (found) => {
        if (!isLive) return;
        context.lines(foundLines(name, found, columns));
        if (found.found) context.lines([[], caseHeading()]);
      },
      onCase: (result) => isLive && context.lines(caseLines(result, columns)),
    });
    // What was started is gone by now; half a check is no check.
    signal.throwIfAborted();
    return checked;
  });
  if (context.isJson) context.document(report);
  else if (report.found) printEnd(context, report);
  if (!report.found) return describeError('AGENT_UNAVAILABLE').exit;
  return report.passed ? exitCodes.ok : exitCodes.failed;
}

function printEnd(context: CliContext, report: AgentCheckReport): void {
  const { columns } = context.style();
  context.lines([[], ...capabilityLines(report.capabilities, columns), [], summaryLine(report)]);
}

function agentsRequest({ deps }: CliContext, options: Options): AgentsRequest {
  const configFile = findConfigFile(deps.cwd, textOf(options['config']) ?? deps.env['STEMMA_CONFIG']);
  return configFile === undefined ? {} : { configFile };
}
