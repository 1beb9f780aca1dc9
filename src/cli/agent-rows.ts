import type { AgentListing } from './ports.ts';
import { span } from '../words/line.ts';
import type { Cell } from './table.ts';
import { plainLine } from '../words/text.ts';

/** The table of `stemma agent ls`: a column that has nothing to say for any agent is left out. */
export function agentTable(items: readonly AgentListing[]): { heading: string[]; rows: Cell[][] } {
  const columns = [
    { title: 'NAME', cell: (item: AgentListing): Cell => dimmed(item, item.name) },
    { title: 'DRIVER', cell: (item: AgentListing): Cell => dimmed(item, item.driver) },
    { title: 'MODEL', cell: (item: AgentListing): Cell => dimmed(item, item.model ?? '') },
    { title: 'PROGRAM', cell: programCell },
    { title: 'SIGNED IN', cell: signInCell },
    { title: 'CAN', cell: (item: AgentListing): Cell => dimmed(item, abilities(item).join(', ')) },
    { title: 'COMMAND', cell: commandCell },
  ];
  const shown = columns.filter(({ cell }) => items.some((item) => textOf(cell(item)) !== ''));
  return {
    heading: shown.map(({ title }) => title),
    rows: items.map((item) => shown.map(({ cell }) => cell(item))),
  };
}

/** Whether it is there without being configured, and its program is not: nobody misses it. */
export function isMerelyPossible({ isBuiltIn, check }: AgentListing): boolean {
  return isBuiltIn === true && check?.found === false;
}

/** What its driver can prove, in a word each. */
export function abilities({ capabilities = {} }: Pick<AgentListing, 'capabilities'>): string[] {
  const { steer, backgroundTasks, resume, limits, usage } = capabilities;
  const words: (string | false)[] = [
    steer === 'proven' && 'steers',
    backgroundTasks === true ? 'tasks' : backgroundTasks === false && 'unseen tasks',
    resume === 'always' ? 'resumes' : resume === 'whereOffered' && 'may resume',
    limits === true && 'limits',
    usage === 'cost' ? 'costs' : usage === 'tokens' ? 'tokens' : usage === 'whereOffered' && 'may tell costs',
  ];
  return words.filter((word) => word !== false);
}

/** What the words of `abilities` mean, for below the table. */
export const abilityMeanings =
  'steers: takes results into a running turn; tasks: its background work holds the tree; unseen tasks: what it leaves running in the background cannot be seen, and holds nothing; resumes: a conversation outlives its process; limits: usage limits are waited out; tokens, costs: what it uses is counted, and budgets are kept';

function programCell(item: AgentListing): Cell {
  const { check } = item;
  if (isMerelyPossible(item)) return span('not installed', 'dim');
  if (check === undefined) return span('no answer', 'warn');
  if (!check.found) return span('not found', 'bad');
  return check.version === undefined ? 'found' : `found ${plainLine(check.version)}`;
}

function signInCell({ check }: AgentListing): Cell {
  const signedIn = check?.found ? check.signedIn : undefined;
  return signedIn === undefined ? '' : span(signedIn, signedIn === 'no' ? 'bad' : 'plain');
}

function commandCell(item: AgentListing): Cell {
  if (!isMerelyPossible(item)) return plainLine(item.command.join(' '));
  return span(item.install === undefined ? '' : `get it: ${plainLine(item.install)}`, 'dim');
}

function dimmed(item: AgentListing, text: string): Cell {
  return isMerelyPossible(item) ? span(plainLine(text), 'dim') : plainLine(text);
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
