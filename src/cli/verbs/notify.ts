import type { Notification } from '../../contract/notification.ts';
import type { CliContext } from '../context.ts';
import { formatDuration } from '../../words/durations.ts';
import { exitCodes } from '../exit.ts';
import { type Cell, printPage } from '../table.ts';
import { plainLine } from '../../words/text.ts';
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

/** `stemma notify ls | test`. */
export function addNotifyVerbs({ program, verb }: Registrar): void {
  const notify = program
    .command('notify')
    .description('what people are told: list what was told, is owed or failed; try a target');
  notify
    .command('ls')
    .description('list notifications, newest first: whom each was told, and why not')
    .option('--state <state>', 'only those with a dispatch in this state: owed, sending, sent, givenUp')
    .option('--transition <name>', 'only of this transition: failed, recovered, waiting, missed, …')
    .option('--project <name>', 'only of this project')
    .addOption(limitOption())
    .addOption(cursorOption())
    .action(verb(list));
  notify
    .command('test')
    .description('send a message to a target now, to see whether it arrives')
    .argument('<target>', 'its name under notify in stemma.yaml')
    .action(verb(test));
}

async function list(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const query = defined({
    state: textOf(options['state']),
    kind: textOf(options['transition']),
    project: textOf(options['project']),
    limit: numberOf(options['limit']),
    cursor: textOf(options['cursor']),
  });
  const page = await client.call('listNotifications', { query });
  const now = context.deps.clock.now();
  const rows = page.items.flatMap((item) => rowsOf(item, now));
  return printPage(context, page, ['AGE', 'WHAT', 'TO', 'STATE', 'WHY'], rows, 'Nobody was told anything.');
}

/** A row for each target; one for what nobody hears. */
function rowsOf(item: Notification, now: number): Cell[][] {
  const age = formatDuration(now - Date.parse(item.at));
  const title = plainLine(item.title);
  if (item.dispatches.length === 0) return [[age, title, '', 'told nobody', '']];
  return item.dispatches.map((dispatch) => {
    const again =
      dispatch.attempts > 0 && dispatch.state === 'sending' ? `, try ${dispatch.attempts + 1}` : '';
    const why = plainLine(dispatch.error?.message ?? '');
    return [age, title, dispatch.target, `${dispatch.state}${again}`, why];
  });
}

async function test(context: CliContext, args: readonly unknown[]): Promise<number> {
  const client = await context.connect();
  const answer = await client.call('testTarget', { id: requiredText(args[0], 'target'), body: {} });
  if (context.isJson) context.document(answer);
  else if (answer.sent) context.data(`${answer.target}: sent`);
  else context.data(`${answer.target}: not sent, ${plainLine(answer.message ?? '')}`);
  return answer.sent ? exitCodes.ok : exitCodes.failed;
}
