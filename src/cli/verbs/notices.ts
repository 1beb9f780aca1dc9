import type { Notice } from '../../contract/execution.ts';
import type { CliContext } from '../context.ts';
import { formatDuration } from '../../words/durations.ts';
import { exitCodes } from '../exit.ts';
import { type Cell, printPage } from '../table.ts';
import { plainLine } from '../../words/text.ts';
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

/** `stemma notice ls | waive | redeliver`. */
export function addNoticeVerbs({ program, verb }: Registrar): void {
  const notice = program
    .command('notice')
    .description('the results owed to sessions: list, waive, redeliver');
  notice
    .command('ls')
    .description('list notices, newest first')
    .option('--state <state>', 'only notices in this state: owed, claimed, handed, handled, waived')
    .option('--session <id>', 'only those owed to this session')
    .addOption(limitOption())
    .addOption(cursorOption())
    .action(verb(list));
  notice
    .command('waive')
    .description('give up the delivery of a result, visibly')
    .argument('<id>', 'the notice; the beginning of an id is enough')
    .requiredOption('--reason <text>', 'why, for the record')
    .action(verb(waive));
  notice
    .command('redeliver')
    .description('try the delivery again now')
    .argument('<id>', 'the notice; the beginning of an id is enough')
    .option('--reason <text>', 'why, for the record')
    .action(verb(redeliver));
}

async function list(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const query = defined({
    state: textOf(options['state']),
    session: textOf(options['session']),
    limit: numberOf(options['limit']),
    cursor: textOf(options['cursor']),
  });
  const page = await client.call('listNotices', { query });
  const now = context.deps.clock.now();
  const rows = page.items.map((item) => noticeRow(item, now));
  return printPage(context, page, ['ID', 'STATE', 'AGE', 'OF', 'TO', 'REASON'], rows, 'There is no notice.');
}

function noticeRow(notice: Notice, now: number): Cell[] {
  const age = formatDuration(now - Date.parse(notice.owedAt));
  const ids = [shortId(notice.executionId), shortId(notice.sessionId)];
  const again = notice.attempt > 0 ? `, delivery ${notice.attempt + 1}` : '';
  return [shortId(notice.id), `${notice.state}${again}`, age, ...ids, plainLine(notice.reason ?? '')];
}

async function waive(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const body = { reason: requiredText(options['reason'], 'text') };
  return print(context, await client.call('waiveNotice', { id: requiredText(args[0], 'id'), body }));
}

async function redeliver(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const body = defined({ reason: textOf(options['reason']) });
  return print(context, await client.call('redeliverNotice', { id: requiredText(args[0], 'id'), body }));
}

function print(context: CliContext, notice: Notice): number {
  if (context.isJson) context.document(notice);
  else context.data(`${notice.id}: ${notice.state}`);
  return exitCodes.ok;
}
