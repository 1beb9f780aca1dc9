import { isDeclaredAbsent } from '../../src/drivers/conformance/report.ts';
import { conformanceCases } from '../../src/drivers/conformance/check-driver.ts';
import type { ConformanceRow } from './conformance-rows.ts';

type Outcome = ConformanceRow['cases'][number]['outcome'];

/** The table of all rows as Markdown, with the reason of every cell that is not `proved`. */
export function conformanceTable(rows: readonly ConformanceRow[], node: string): string {
  const heads = rows.map(({ agent, version }) => (version === undefined ? agent : `${agent} ${version}`));
  const lines = [
    '# What each driver proves',
    '',
    'Made by `npm run conformance`, which runs every case of the conformance suite against the demo agent, a script and the real',
    'agent programs, these on the scripted model of this project. Do not edit it: run it again.',
    '',
    '- **proved**: the case ran and passed.',
    '- **absent**: the driver declares that it does not do this, so nothing relies on it.',
    '- **not asked**: nobody can make this agent do what the case is about; the reason is below.',
    '- **FAILS**: the case ran and failed; the reason is below.',
    '',
    `Made on ${process.platform} with Node ${node}.`,
    '',
    row(['case', ...heads]),
    row(['---', ...heads.map(() => '---')]),
    ...conformanceCases.map(({ name }) =>
      row([`\`${name}\``, ...rows.map((one) => wordFor(outcomeOf(one, name)))]),
    ),
    row(['**proved**', ...rows.map((one) => countOf(one))]),
    '',
    '## What is declared',
    '',
    ...capabilities(rows, heads),
    '',
    ...rows.flatMap(reasons),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function outcomeOf(one: ConformanceRow, name: string): Outcome | undefined {
  return one.cases.find((result) => result.name === name)?.outcome;
}

function wordFor(outcome: Outcome | undefined): string {
  if (outcome === undefined) return 'not run';
  if (outcome.state === 'passed') return 'proved';
  if (outcome.state === 'failed') return '**FAILS**';
  return isDeclaredAbsent(outcome) ? 'absent' : 'not asked';
}

function countOf({ cases }: ConformanceRow): string {
  const asked = cases.filter(({ outcome }) => outcome.state !== 'skipped');
  return `${asked.filter(({ outcome }) => outcome.state === 'passed').length} of ${asked.length}`;
}

function capabilities(rows: readonly ConformanceRow[], heads: readonly string[]): string[] {
  const names = Object.keys(rows[0]?.capabilities ?? {}) as (keyof ConformanceRow['capabilities'])[];
  return [
    row(['', ...heads]),
    row(['---', ...heads.map(() => '---')]),
    ...names.map((name) => row([`\`${name}\``, ...rows.map((one) => String(one.capabilities[name]))])),
  ];
}

/** Reasons that several cases share are said once. */
function reasons({ agent, cases }: ConformanceRow): string[] {
  const byReason = new Map<string, string[]>();
  for (const { name, outcome } of cases) {
    if (outcome.state === 'passed') continue;
    const said = outcome.state === 'failed' ? `FAILS: ${outcome.reason}` : outcome.reason;
    const generic = said.replace(/: no prompt was given for .*/, '');
    const reason = generic.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').slice(0, 400);
    byReason.set(reason, [...(byReason.get(reason) ?? []), `\`${name}\``]);
  }
  if (byReason.size === 0) return [];
  const items = [...byReason].map(([reason, names]) => `- ${names.join(', ')}: ${reason}`);
  return [`## ${agent}`, '', ...items, ''];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
