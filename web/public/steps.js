// The steps of a workflow as rows: where each is, how often it was tried, why, and what it asks. Pure: the server's answer
// in, rows out.

import { plain, shorten, spentWords } from './words.js';

/** Of more steps the page shows the first ones only. */
const mostSteps = 1_000;
const mostOutputs = 20;

const shownAs = { blocked: 'unsent', due: 'queued', backsOff: 'waiting', skipped: 'cancelled' };
const stateWords = { blocked: 'waits for others', due: 'is about to begin', backsOff: 'is tried again' };
const reasonWords = {
  upstream: 'a step that it needs failed, or was skipped',
  condition: 'its condition did not hold',
  notChosen: 'its case was not chosen',
  failFast: 'another step failed',
};

/** The steps of a workflow, in the order of its file. */
export function viewOfSteps({ name, group, counts, steps, directory, usage }) {
  const { total, ended, failed } = counts;
  const failures = failed > 0 ? `, ${failed} failed` : '';
  return {
    title: group ? `${plain(name)} (${plain(group)})` : plain(name),
    summary: `${ended} of ${total} steps ended${failures}${usedWords(usage)}${directory ? `. Its record: ${plain(directory)}` : ''}`,
    rows: steps.slice(0, mostSteps).map(rowOf),
    left: Math.max(0, total - Math.min(steps.length, mostSteps)),
  };
}

function usedWords(usage) {
  const words = usage ? spentWords({ spent: usage }) : '';
  return words === '' ? '' : `, ${words}`;
}

function rowOf(step) {
  const { name, type, state, attempts, tries } = step;
  const latest = attempts.at(-1);
  const asks = attempts.findLast(({ closed, waiting }) => !closed && waiting?.for === 'input');
  const waits = state === 'running' && latest?.waiting !== undefined;
  return {
    id: name,
    shown: waits ? 'waiting' : (shownAs[state] ?? state),
    words: waits ? 'waiting' : (stateWords[state] ?? state),
    title: { kind: type, name: shorten(name, 200), aside: tries > 1 ? `(attempt ${tries})` : '' },
    since: latest?.startedAt,
    ended: latest?.closed ? latest.endedAt : undefined,
    until: step.retryAt,
    remarks: remarksOf(step, latest),
    question: asks && questionOf(asks),
  };
}

function remarksOf(step, latest) {
  const { state, reason, needs, waitsFor = needs, attempts, result, outputs, reused } = step;
  const remarks = [];
  if (reused) remarks.push(`done before, by ${reused}`);
  if (state === 'blocked') remarks.push(`needs ${waitsFor.join(', ')}`);
  if (state === 'skipped' || state === 'cancelled') remarks.push(reasonWords[reason] ?? reason ?? '');
  if (state === 'running' && latest?.waiting && latest.waiting.for !== 'input')
    remarks.push(`waits for ${latest.waiting.for}: ${latest.waiting.text ?? ''}`);
  const failures = attempts.filter(({ error }) => error);
  for (const { attempt, error } of failures)
    remarks.push(failures.length > 1 ? `attempt ${attempt}: ${error.message}` : error.message);
  const used = attempts.map(({ attempt, usage }) => [attempt, usage ? spentWords({ spent: usage }) : '']);
  for (const [attempt, words] of used)
    if (words !== '') remarks.push(attempts.length > 1 ? `attempt ${attempt} ${words}` : words);
  if (state === 'succeeded' && result && !outputs) remarks.push(result);
  for (const [name, value] of Object.entries(outputs ?? {}).slice(0, mostOutputs))
    remarks.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  if (step.outputsCut) remarks.push(`outputs: too long to be shown, in ${latest?.directory ?? 'its record'}`);
  return remarks.map((text) => shorten(text, 300)).filter((text) => text !== '');
}

function questionOf({ executionId, waiting: { questionId, text = '', choices = [] } }) {
  return { executionId, questionId, text: plain(text), choices };
}
