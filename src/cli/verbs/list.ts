import type { StemmaClient } from '../../client/stemma-client.ts';
import type { Execution, MonitorRow } from '../../contract/execution.ts';
import type { CliContext } from '../context.ts';
import { formatDuration } from '../durations.ts';
import { span } from '../line.ts';
import { type Cell, printPage } from '../table.ts';
import { clip, plainLine } from '../text.ts';
import { shortId } from '../tree-view.ts';
import { stateWords, titleOf, toneOf } from '../tree-words.ts';
import { defined, numberOf, type Options, type Registrar, textOf, wholeNumber } from '../verb.ts';

/** `stemma ls`: what is live; with a filter or `--all`, every execution, newest first. */
export function addListVerb({ program, verb }: Registrar): void {
  program
    .command('ls')
    .description('list the live roots and what holds each; with a filter or --all, executions, newest first')
    .option('--state <state>', 'only executions in this state')
    .option('--session <id>', 'only executions of this session')
    .option('--all', 'also what is closed')
    .option('--limit <n>', 'how many at most', wholeNumber(1, 500))
    .option('--cursor <cursor>', 'go on behind an earlier list')
    .action(verb(list));
}

async function list(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const query = defined({
    state: textOf(options['state']),
    session: textOf(options['session']),
    limit: numberOf(options['limit']),
    cursor: textOf(options['cursor']),
  });
  const isFiltered = options['all'] === true || query.state !== undefined || query.session !== undefined;
  const client = await context.connect();
  return isFiltered ? listExecutions(context, client, query) : listLive(context, client, query);
}

async function listLive(context: CliContext, client: StemmaClient, query: ListOptions): Promise<number> {
  const page = await client.call('monitor', { query });
  const rows = page.items.map(monitorRow);
  return printPage(context, page, monitorHeading, rows, 'Nothing is live. `stemma ls --all` shows what was.');
}

async function listExecutions(
  context: CliContext,
  client: StemmaClient,
  query: ListOptions,
): Promise<number> {
  const page = await client.call('listExecutions', { query });
  const now = context.deps.clock.now();
  const rows = page.items.map((item) => executionRow(item, now));
  return printPage(context, page, executionHeading, rows, 'Nothing fits.');
}

type ListOptions = Readonly<Record<string, string | number>>;

const longestName = 48;
const monitorHeading = ['ID', 'STATE', 'AGE', 'NAME', 'HELD BY'];
const executionHeading = ['ID', 'STATE', 'CLOSED', 'NAME', 'ROOT'];

function monitorRow(row: MonitorRow): Cell[] {
  const held = row.waiting
    ? `waits for ${row.waiting.for}`
    : row.holding
        .map(({ name, why }) => `${plainLine(name ?? 'a result')} (${plainLine(why).replaceAll('_', ' ')})`)
        .join(', ');
  const title = clip(titleOf({ ...row, attempt: 1 }), longestName);
  return [shortId(row.id), span(row.state, toneOf(row)), formatDuration(row.ageMs), title, held];
}

function executionRow(item: Execution, now: number): Cell[] {
  const root = item.parentId === null ? '' : shortId(item.rootId);
  const state = clip(stateWords(item, now), longestName);
  return [
    shortId(item.id),
    span(state, toneOf(item)),
    item.closed ? 'yes' : 'no',
    clip(titleOf(item), longestName),
    root,
  ];
}
