import type { StemmaClient } from '../../client/stemma-client.ts';
import type { Execution, MonitorRow } from '../../contract/execution.ts';
import type { CliContext } from '../context.ts';
import { formatDuration } from '../../words/durations.ts';
import { span } from '../../words/line.ts';
import { type Cell, printPage } from '../table.ts';
import { clip } from '../../words/text.ts';
import {
  holdingWords,
  type Signs,
  shortId,
  signOf,
  stateWords,
  titleOf,
  toneOf,
} from '../../words/tree-words.ts';
import { spentWords, usageWords } from '../../words/usage-words.ts';
import {
  defined,
  numberOf,
  type Options,
  type Registrar,
  textOf,
  cursorOption,
  limitOption,
} from '../verb.ts';

/** `stemma ls`: what is live; with a filter or `--all`, every execution, newest first. */
export function addListVerb({ program, verb }: Registrar): void {
  program
    .command('ls')
    .description('list the live roots and what holds each; with a filter or --all, executions, newest first')
    .option('--state <state>', 'only executions in this state')
    .option('--session <id>', 'only executions of this session')
    .option('--all', 'also what is closed')
    .addOption(limitOption())
    .addOption(cursorOption())
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
  const used = page.items.map(({ spent, budget }) => spentWords(spent, budget).replace(/^used /, ''));
  const rows = page.items.map((item) => monitorRow(item, styleOf(context)));
  const [heading, cells] = withUsed(monitorHeading, rows, used);
  return printPage(context, page, heading, cells, 'Nothing is live. stemma ls --all shows what was.');
}

async function listExecutions(
  context: CliContext,
  client: StemmaClient,
  query: ListOptions,
): Promise<number> {
  const page = await client.call('listExecutions', { query });
  const used = page.items.map(({ spent, usage }) => usageWords(spent ?? usage));
  const rows = page.items.map((item) => executionRow(item, styleOf(context)));
  const [heading, cells] = withUsed(executionHeading, rows, used);
  return printPage(context, page, heading, cells, 'Nothing fits.');
}

interface ListStyle {
  readonly now: number;
  readonly signs: Signs;
}

function styleOf({ deps, signs }: CliContext): ListStyle {
  return { now: deps.clock.now(), signs };
}

type ListOptions = Readonly<Record<string, string | number>>;

const longestName = 48;
const monitorHeading = ['ID', 'STATE', 'AGE', 'NAME', 'WAITS FOR'];
const executionHeading = ['ID', 'STATE', 'NAME', 'ROOT'];

// A column that says nothing is left out; it comes before the last one, which may be long.
function withUsed(heading: string[], rows: Cell[][], used: readonly string[]): [string[], Cell[][]] {
  if (used.every((words) => words === '')) return [heading, rows];
  const at = heading.length - 1;
  return [heading.toSpliced(at, 0, 'USED'), rows.map((row, i) => row.toSpliced(at, 0, used[i] ?? ''))];
}

// What is listed is open; the state of a root that ended itself would read as if all of it had ended.
function monitorRow(row: MonitorRow, { now, signs }: ListStyle): Cell[] {
  const root = { ...row, closed: false };
  const isLive = row.state === 'running' || row.state === 'queued';
  const state = `${signOf(root, signs).text} ${isLive ? row.state : 'open'}`;
  const names = new Map([[row.id, 'itself']]);
  // That it runs itself, its state says.
  const others = row.holding.filter(({ executionId, why }) => executionId !== row.id || why !== row.state);
  const held = others.map((holding) =>
    holdingWords({ ...holding, name: holding.name ?? 'a result' }, names, now),
  );
  const title = clip(titleOf({ ...row, attempt: 1 }), longestName);
  return [shortId(row.id), span(state, toneOf(root)), formatDuration(row.ageMs), title, held.join(', ')];
}

function executionRow(item: Execution, { now, signs }: ListStyle): Cell[] {
  const root = item.parentId === null ? '' : shortId(item.rootId);
  const state = clip(`${signOf(item, signs).text} ${stateWords(item, now)}`, longestName);
  return [shortId(item.id), span(state, toneOf(item)), clip(titleOf(item), longestName), root];
}
