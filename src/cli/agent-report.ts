import { formatDuration } from '../words/durations.ts';
import { type Line, type Span, span, type Tone } from '../words/line.ts';
import type { AgentCapability, AgentCase, AgentCheckReport, AgentFound } from './ports.ts';
import { columnsOf, pad, plainLine, wrap } from '../words/text.ts';

/** How many lines of evidence a failed case shows; `--json` has them all. */
const shownEvidence = 12;

/** What was found of an agent: its program, its version, and each warning on lines that cannot be overlooked. */
export function foundLines(
  name: string,
  { driver, found, version, signedIn, signIn, warnings }: AgentFound,
  columns: number,
): Line[] {
  const what = found ? `found${version === undefined ? '' : `, version ${plainLine(version)}`}` : 'not found';
  const head = [
    span(plainLine(name), 'strong'),
    span(` (${plainLine(driver)}): `),
    span(what, found ? 'plain' : 'bad'),
  ];
  const state =
    signedIn === undefined ? [] : [[span(`signed in: ${signedIn}`, signedIn === 'no' ? 'bad' : 'plain')]];
  const how = signedIn === 'yes' || signIn === undefined ? [] : hintLines([`sign in: ${signIn}`], columns);
  return [head, ...state, ...how, ...warningLines(warnings, columns)];
}

/** Each hint on lines of its own, less loud than a warning. */
export function hintLines(hints: readonly string[], columns: number, of?: string): Line[] {
  const about = of === undefined ? '' : `${plainLine(of)}: `;
  return hints.flatMap((hint) =>
    hanging([span('hint: ', 'dim')], `${about}${plainLine(hint)}`, 'plain', columns),
  );
}

/** Words about what was shown, broken to the width of the screen. */
export function noteLines(text: string, columns: number): Line[] {
  return wrap(text, columns).map((line) => [span(line, 'dim')]);
}

/** Each warning on lines of its own; `of`: what it is about, where that is not said above. */
export function warningLines(warnings: readonly string[], columns: number, of?: string): Line[] {
  const about = of === undefined ? '' : `${plainLine(of)}: `;
  return warnings.flatMap((warning) =>
    hanging([span('warning: ', 'warn')], `${about}${plainLine(warning)}`, 'plain', columns),
  );
}

/** One case as a row, as it ends; a failed one with the end of its evidence below it. */
export function caseLines({ name, title, outcome, evidence, tookMs }: AgentCase, columns: number): Line[] {
  const took = outcome.state === 'skipped' ? '' : formatDuration(tookMs);
  const head = [span(pad(name, nameColumns)), state(outcome.state), span(pad(took, tookColumns), 'dim')];
  if (outcome.state === 'passed') return hanging(head, title, 'plain', columns);
  const tone = outcome.state === 'failed' ? 'bad' : 'dim';
  const row = hanging(head, plainLine(outcome.reason), tone, columns);
  if (outcome.state === 'skipped') return row;
  const last = evidence.slice(-shownEvidence);
  return [...row, ...last.flatMap((line) => hanging([span('    ')], plainLine(line), 'dim', columns))];
}

/** What the driver declares, what it means, and whether a case saw it. */
export function capabilityLines(capabilities: readonly AgentCapability[], columns: number): Line[] {
  const rows = capabilities.flatMap((capability) => {
    const { name, value, cases } = capability;
    // What was seen, by the names of the cases that saw it.
    const shown = capability.proof === 'declared' ? '' : ` (${cases.map(plainLine).join(', ')})`;
    const meaning = `${capability.meaning}${shown}`;
    const head = [span(pad(name, nameColumns)), span(pad(shownValue(value), valueColumns))];
    return hanging([...head, proof(capability)], meaning, 'plain', columns);
  });
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
  const heading = [pad('CASE', nameColumns), pad('RESULT', stateColumns), pad('TIME', tookColumns), 'WHAT'];
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
const proofColumns = 14;

function state(name: AgentCase['outcome']['state']): Span {
  const tone = name === 'passed' ? 'good' : name === 'failed' ? 'bad' : 'dim';
  return span(pad(name, stateColumns), tone);
}

function proof({ proof: kind, cases }: AgentCapability): Span {
  switch (kind) {
    case 'proved':
      return span(pad('proved', proofColumns), 'good');
    case 'refuted':
      return span(pad('refuted', proofColumns), 'bad');
    case 'declared':
      return span(pad(cases.length === 0 ? 'no case' : 'not shown', proofColumns), 'dim');
  }
}

/** A text behind a head, broken to the width of the screen; below the head where there is no room beside it. */
function hanging(head: Line, text: string, tone: Tone, columns: number): Line[] {
  const used = head.reduce((sum, piece) => sum + columnsOf(piece.text), 0);
  const isBeside = columns - used >= narrowest;
  const indent = ' '.repeat(isBeside ? used : 4);
  const lines = wrap(text, columns - indent.length).map((line): Line => [span(indent), span(line, tone)]);
  return isBeside
    ? lines.map((line, row) => (row === 0 ? [...head, ...line.slice(1)] : line))
    : [head, ...lines];
}

const narrowest = 20;

function shownValue(value: string | boolean): string {
  return typeof value === 'string' ? value : value ? 'yes' : 'no';
}
