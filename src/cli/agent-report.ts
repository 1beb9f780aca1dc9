import { formatDuration } from './durations.ts';
import { type Line, type Span, span } from './line.ts';
import type { AgentCapability, AgentCase, AgentCheckReport, AgentFound } from './ports.ts';
import { pad, plainLine } from './text.ts';

/** How many lines of evidence a failed case shows; `--json` has them all. */
const shownEvidence = 12;

/** What was found of an agent: its program, its version, and each warning on a line that cannot be overlooked. */
export function foundLines(name: string, { driver, found, version, warnings }: AgentFound): Line[] {
  const what = found ? `found${version === undefined ? '' : `, version ${plainLine(version)}`}` : 'not found';
  const head = [
    span(plainLine(name), 'strong'),
    span(` (${plainLine(driver)}): `),
    span(what, found ? 'plain' : 'bad'),
  ];
  return [head, ...warnings.map((warning): Line => [span('warning: ', 'warn'), span(plainLine(warning))])];
}

/** One case as a row, as it ends; a failed one with the end of its evidence below it. */
export function caseLines({ name, title, outcome, evidence, tookMs }: AgentCase): Line[] {
  const took = outcome.state === 'skipped' ? '' : formatDuration(tookMs);
  const head = [span(pad(name, nameColumns)), state(outcome.state), span(pad(took, tookColumns), 'dim')];
  if (outcome.state === 'passed') {
    const seen = tellingLine(evidence);
    return [[...head, span(title), ...(seen === undefined ? [] : [span(`  ${seen}`, 'dim')])]];
  }
  const row = [...head, span(plainLine(outcome.reason), outcome.state === 'failed' ? 'bad' : 'dim')];
  if (outcome.state === 'skipped') return [row];
  const last = evidence.slice(-shownEvidence).map((line): Line => [span(`    ${plainLine(line)}`, 'dim')]);
  return [row, ...last];
}

/** What the driver declares, what it means, and whether a case saw it. */
export function capabilityLines(capabilities: readonly AgentCapability[]): Line[] {
  const rows = capabilities.map((capability) => [
    span(pad(capability.name, nameColumns)),
    span(pad(shownValue(capability.value), valueColumns)),
    proof(capability),
    span(capability.meaning),
  ]);
  const heading = [
    pad('CAPABILITY', nameColumns),
    pad('DECLARED', valueColumns),
    pad('PROOF', proofColumns),
    'MEANING',
  ];
  return [[span(heading.join(''), 'dim')], ...rows];
}

/** The heading of the rows of cases. */
export function caseHeading(): Line {
  const heading = [
    pad('CASE', nameColumns),
    pad('RESULT', stateColumns),
    pad('TIME', tookColumns),
    'REASON OR EVIDENCE',
  ];
  return [span(heading.join(''), 'dim')];
}

/** The last line: how many cases ended how. */
export function summaryLine({ cases, passed }: AgentCheckReport): Line {
  const count = (wanted: AgentCase['outcome']['state']): number =>
    cases.filter(({ outcome }) => outcome.state === wanted).length;
  const counts = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
  return [span(counts, passed ? 'good' : 'bad')];
}

const nameColumns = 19;
const stateColumns = 9;
const tookColumns = 7;
const valueColumns = 14;
const proofColumns = 39;

function state(name: AgentCase['outcome']['state']): Span {
  const tone = name === 'passed' ? 'good' : name === 'failed' ? 'bad' : 'dim';
  return span(pad(name, stateColumns), tone);
}

function proof({ proof: kind, cases }: AgentCapability): Span {
  switch (kind) {
    case 'proved':
      return span(pad(`proved by ${cases.join(', ')}`, proofColumns), 'good');
    case 'refuted':
      return span(pad(`refuted by ${cases.join(', ')}`, proofColumns), 'bad');
    case 'declared':
      return span(pad(cases.length === 0 ? 'declared; no case' : 'declared; not shown', proofColumns), 'dim');
  }
}

function shownValue(value: string | boolean): string {
  return typeof value === 'string' ? value : value ? 'yes' : 'no';
}

// The last thing that was seen of the agent, before it was left or ended as every case ends.
function tellingLine(evidence: readonly string[]): string | undefined {
  const line = evidence.findLast((one) => !/^(end|detach) → |^@\S+ exited /.test(one));
  return line === undefined ? undefined : plainLine(line);
}
