import { Command, CommanderError } from 'commander';
import { StemmaError, toStemmaError } from '../base/errors.ts';
import { CliContext, type GlobalOptions } from './context.ts';
import { exitCodes, exitOfError, Interrupted } from './exit.ts';
import { keepAlive } from './keep-alive.ts';
import type { CliDeps } from './ports.ts';
import { plainBlock } from '../words/text.ts';
import { addAgentVerbs } from './verbs/agents.ts';
import { addAuthVerbs } from './verbs/auth.ts';
import { addCompletionVerb } from './verbs/completion.ts';
import { addDemoVerbs } from './verbs/demo.ts';
import { addDoctorVerb } from './verbs/doctor.ts';
import { addExecVerb } from './verbs/exec.ts';
import { addExecutionVerbs } from './verbs/executions.ts';
import { addImportVerbs } from './verbs/import.ts';
import { addInitVerb } from './verbs/init.ts';
import { addListVerb } from './verbs/list.ts';
import { addLogsVerb } from './verbs/logs.ts';
import { addNoticeVerbs } from './verbs/notices.ts';
import { addNotifyVerbs } from './verbs/notify.ts';
import { addRunVerb } from './verbs/run.ts';
import { addScheduleVerbs } from './verbs/schedules.ts';
import { addSchemaVerb } from './verbs/schema.ts';
import { addSendVerb } from './verbs/send.ts';
import { addServerVerbs } from './verbs/server.ts';
import { addSessionVerbs } from './verbs/sessions.ts';
import { addStandingRunVerbs } from './verbs/standing-runs.ts';
import { addTreeVerbs } from './verbs/tree.ts';
import { addUpVerb } from './verbs/up.ts';
import { addWorkflowVerbs } from './verbs/workflows.ts';
import type { Registrar, VerbHandler } from './verb.ts';

/** Runs one command line, without program and script; resolves with the exit code and never throws. */
export async function runCli(argv: readonly string[], deps: CliDeps): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const isJson = asksForJson(argv);
  const program = createProgram(deps, (code) => {
    exitCode = code;
  });
  if (isJson) silence(program);
  try {
    await keepAlive(() => program.parseAsync([...argv], { from: 'user' }));
    return await withOutput(deps, exitCode, isJson);
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) {
      reportError(deps, thrown, program.opts<GlobalOptions>().json === true);
      return exitOfError(thrown);
    }
    if (thrown.exitCode === 0) return await withOutput(deps, exitCodes.ok, isJson);
    if (isJson) reportError(deps, usageError(thrown), true);
    return exitCodes.usage;
  }
}

/** The exit code, unless all went well and nobody could read of it. */
async function withOutput(deps: CliDeps, exitCode: number, isJson: boolean): Promise<number> {
  const failure = await deps.stdout.failure?.();
  if (!failure) return exitCode;
  const message = `The output could not be written: ${failure.message}.`;
  const error = new StemmaError('DISK_FULL', message, { stream: 'stdout' }, failure);
  reportError(deps, error, isJson);
  return exitCode === exitCodes.ok ? exitOfError(error) : exitCode;
}

// Before commander has read them: what it cannot read is told as JSON too. Behind `--` are the words of another program.
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

/** Commander says nothing on stderr any more; what it would have said is thrown. */
function silence(command: Command): void {
  command.configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) silence(child);
}

function usageError({ code, message }: CommanderError): StemmaError {
  const isHelp = code === 'commander.help';
  const text = isHelp ? 'A command is missing; --help lists them.' : message.replace(/^error: /, '');
  return new StemmaError('INVALID_INPUT', text);
}

/** The command line as a commander program. `finish` hears the exit code of the verb that ran; errors are thrown. */
export function createProgram(deps: CliDeps, finish: (exitCode: number) => void): Command {
  const program = new Command('stemma')
    .description(
      'Runs coding agents unattended and knows exactly when everything a message set in motion is finished.',
    )
    .version(deps.version)
    .option('--url <url>', 'the server to ask (else STEMMA_URL, else the server of the data directory)')
    .option(
      '--token <token>',
      'the token to ask with (else STEMMA_TOKEN, else the token of the data directory)',
    )
    .option('--data <dir>', 'the data directory (else STEMMA_DATA, else ~/.stemma)')
    .option('--json', 'print JSON: one document, or one a line for live views')
    .addHelpText('after', exitHelp)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => deps.stdout.write(text),
      writeErr: (text) => deps.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'stemma: ')),
      getOutHelpWidth: () => deps.stdout.size()?.columns ?? 100,
      getErrHelpWidth: () => deps.stderr.size()?.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
  const registrar: Registrar = { program, verb: (handler) => action(deps, finish, handler) };
  for (const [heading, adders] of verbs) {
    program.commandsGroup(`${heading}:`);
    for (const add of adders) add(registrar);
  }
  // Into the last group; else it would have one of its own.
  program.helpCommand(true);
  return program;
}

/** In the order and the groups of the help. */
const verbs: readonly (readonly [heading: string, adders: readonly ((registrar: Registrar) => void)[]])[] = [
  ['To begin with', [addDemoVerbs, addInitVerb]],
  ['The server', [addUpVerb, addServerVerbs, addDoctorVerb, addAuthVerbs]],
  ['Messages and runs', [addSendVerb, addRunVerb, addStandingRunVerbs, addWorkflowVerbs, addExecVerb]],
  ['What is open, and why', [addListVerb, addTreeVerbs, addLogsVerb, addExecutionVerbs]],
  ['By itself', [addScheduleVerbs, addImportVerbs, addNotifyVerbs]],
  ['Agents and conversations', [addAgentVerbs, addSessionVerbs, addNoticeVerbs]],
  ['More', [addSchemaVerb, addCompletionVerb]],
];

const exitHelp = `
Exit codes: 0 ok, 1 failed or cancelled, 2 usage, 3 not found, 4 conflict, 5 configuration, token or agent,
6 server unreachable, 7 waiting for capacity or login, 8 waiting for input, 124 timed out, 130 and 143 ended by a signal.`;

// Commander calls an action with the declared arguments, then the options, then the command itself.
function action(deps: CliDeps, finish: (exitCode: number) => void, handler: VerbHandler) {
  return async (...parameters: unknown[]): Promise<void> => {
    const command = parameters.at(-1) as Command;
    const options = command.optsWithGlobals<GlobalOptions & Record<string, unknown>>();
    const context = new CliContext(deps, options);
    try {
      finish(await handler(context, command.processedArgs, options));
    } catch (thrown) {
      throw context.withAdvice(thrown);
    }
  };
}

function reportError(deps: CliDeps, thrown: unknown, isJson: boolean): void {
  if (thrown instanceof Interrupted) return;
  const error = toStemmaError(thrown);
  if (isJson) {
    const { code, message, data } = error;
    deps.stderr.write(`${JSON.stringify({ error: { code, message, data } })}\n`);
    return;
  }
  deps.stderr.write(`stemma: ${plainBlock(sentence(error))}\n`);
  // What is not a StemmaError is a bug here: there is no log that could say more.
  if (!(thrown instanceof StemmaError))
    deps.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`);
}

// The code goes behind a sentence; a message of several lines (the mistakes in a file) is its own explanation.
function sentence(error: StemmaError): string {
  return error.message.includes('\n') ? error.message : `${error.message} [${error.code}]`;
}
