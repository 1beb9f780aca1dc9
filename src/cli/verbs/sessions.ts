import { Argument } from 'commander';
import type { Session } from '../../contract/session.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { type Cell, printPage } from '../table.ts';
import { clip, plainLine } from '../../words/text.ts';
import { shortId } from '../../words/tree-words.ts';
import {
  defined,
  numberOf,
  type Options,
  type Registrar,
  requiredText,
  textOf,
  cursorOption,
  limitOption,
} from '../verb.ts';
import { attach } from './attach.ts';

/** `stemma session ls | stop | interrupt | capacity | attach`. */
export function addSessionVerbs({ program, verb }: Registrar): void {
  const session = program
    .command('session')
    .description('the conversations: list, stop, interrupt, attach, decide about a limit');
  session
    .command('ls')
    .description('list sessions, latest activity first')
    .option('--state <state>', 'only sessions in this state: cold, live, stopped')
    .addOption(limitOption())
    .addOption(cursorOption())
    .action(verb(list));
  session
    .command('stop')
    .description("stop a session and cancel what it started; a person's next message starts it again")
    .argument('<id>', 'the session; the beginning of an id is enough')
    .option('--reason <text>', 'why, for the record')
    .action(verb(call('stopSession')));
  session
    .command('interrupt')
    .description('ask the running turn to stop; the session and its children live on')
    .argument('<id>', 'the session; the beginning of an id is enough')
    .option('--reason <text>', 'why, for the record')
    .action(verb(call('interruptSession')));
  session
    .command('capacity')
    .description('a session that waits for a usage limit or a sign-in: try again now, or give up what waits')
    .argument('<id>', 'the session; the beginning of an id is enough')
    .addArgument(new Argument('<action>', 'what to do').choices(['resume', 'giveUp']))
    .action(verb(capacity));
  session
    .command('attach')
    .description(
      "open the agent's own screen in this terminal; what you type is a message of yours. Ctrl-] detaches",
    )
    .argument('<id>', 'the session; the beginning of an id is enough')
    .option(
      '--read-only',
      'only watch: nothing that you type gets there; so it is with a token that may only read',
    )
    .action(verb(attach));
}

async function capacity(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const action = requiredText(args[1], 'action') === 'giveUp' ? 'giveUp' : 'resume';
  const session = await client.call('decideCapacity', { id: requiredText(args[0], 'id'), body: { action } });
  if (context.isJson) context.document(session);
  else context.data(`${session.id}: ${action === 'resume' ? 'goes on' : 'what waited was given up'}`);
  return exitCodes.ok;
}

async function list(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const query = defined({
    state: textOf(options['state']),
    limit: numberOf(options['limit']),
    cursor: textOf(options['cursor']),
  });
  const page = await client.call('listSessions', { query });
  const heading = ['ID', 'STATE', 'TURN', 'QUEUED', 'AGENT', 'TITLE', 'DIRECTORY'];
  return printPage(context, page, heading, page.items.map(sessionRow), 'There is no session.');
}

const longestTitle = 40;

function sessionRow({ id, state, turn, queued, agent, title, cwd }: Session): Cell[] {
  const shown = clip(plainLine(title ?? ''), longestTitle);
  return [
    shortId(id),
    state,
    turn ? 'running' : 'free',
    String(queued),
    plainLine(agent),
    shown,
    plainLine(cwd),
  ];
}

function call(name: 'stopSession' | 'interruptSession') {
  return async (context: CliContext, args: readonly unknown[], options: Options): Promise<number> => {
    const client = await context.connect();
    const body = defined({ reason: textOf(options['reason']) });
    const session = await client.call(name, { id: requiredText(args[0], 'id'), body });
    if (context.isJson) context.document(session);
    else context.data(`${session.id}: ${name === 'stopSession' ? session.state : 'asked to stop its turn'}`);
    return exitCodes.ok;
  };
}
