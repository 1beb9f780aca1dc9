import type { StepAttemptView } from '../contract/step-attempt.ts';
import type { WorkflowStep, WorkflowView } from '../contract/workflow.ts';
import { formatDuration } from '../words/durations.ts';
import { type Line, span } from '../words/line.ts';
import { questionOf, signOfStep, stepCountWords, stepStateWords } from '../words/step-words.ts';
import { clip, plainBlock, plainLine, wrap } from '../words/text.ts';
import type { Signs } from '../words/tree-words.ts';
import { usageWords } from '../words/usage-words.ts';

/** How wide what came of a step is shown beside it, in columns. */
const shownValue = 200;
const mostValues = 20;
/** How many lines of a text are shown of one step whole. */
const mostLines = 400;

/** What a workflow is, where it stands, what it used, and where its record lies. */
export function headLines(view: WorkflowView, now: number): Line[] {
  const { name, group, state = 'not begun', outcome, outcomeCode, counts, directory, executionId } = view;
  const code = outcomeCode === undefined ? '' : ` (${plainLine(outcomeCode)})`;
  const title = group === undefined ? name : `${name} (${group})`;
  const parts = [
    `${plainLine(title)}: ${outcome ?? state}${code}`,
    stepCountWords(counts),
    ...tookAndUsed(view, now),
    ...(executionId === undefined ? [] : [executionId]),
  ];
  return [
    [span(parts.join('; '), 'strong')],
    ...(directory === undefined ? [] : [[span(`record: ${plainLine(directory)}`, 'dim')]]),
    ...(view.resumes === undefined ? [] : [[span(`goes on with ${view.resumes}`, 'dim')]]),
    ...(view.inputs === undefined ? [] : [[span(`inputs: ${shownValues(view.inputs).join(', ')}`, 'dim')]]),
  ];
}

function tookAndUsed(
  timed: {
    readonly startedAt?: string | undefined;
    readonly endedAt?: string | undefined;
    readonly usage?: WorkflowView['usage'];
  },
  now: number,
): string[] {
  const { startedAt, endedAt, usage } = timed;
  const used = usageWords(usage);
  const took =
    startedAt === undefined
      ? ''
      : formatDuration((endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(startedAt));
  return [...(took === '' ? [] : [took]), ...(used === '' ? [] : [`used ${used}`])];
}

/** A step: where it is, and below it what it waits for, each of its attempts, and what came of it. */
export function stepLines(
  step: WorkflowStep,
  { now, signs }: { readonly now: number; readonly signs: Signs },
): Line[] {
  const { name, type, attempts, tries, waitsFor, needs, result } = step;
  const sign = signOfStep(step, signs);
  const words = stepStateWords(step, now);
  const head: Line = [
    { ...sign, text: `${sign.text} ` },
    span(plainLine(name), 'strong'),
    span(` ${type} · ${words}`),
  ];
  const below: Line[] = [];
  const asks = questionOf(step);
  if (waitsFor) below.push(detail(`waits for: ${waitsFor.map(plainLine).join(', ')}`));
  else if (step.state === 'due' && needs.length === 0) below.push(detail('needs nothing'));
  if (tries > attempts.length && attempts.length > 0)
    below.push(detail(`${tries - attempts.length} earlier attempts are not shown`));
  for (const attempt of attempts) below.push(...attemptLine(attempt, now));
  if (asks?.waiting)
    below.push([
      span(`    asks: ${plainLine(asks.waiting.text ?? '')} (stemma answer ${asks.executionId})`, 'warn'),
    ]);
  below.push(...outputLines(step));
  if (step.outputs === undefined && result !== undefined && result.trim() !== '')
    below.push(...resultLines(type, result));
  return [head, ...below];
}

/** What a workflow made of its steps is a line for each of them; of everything else the beginning is enough. */
function resultLines(type: WorkflowStep['type'], result: string): Line[] {
  if (type !== 'workflow') return [detail(`result: ${clip(plainLine(result), shownValue)}`)];
  return [detail('result:'), ...firstLines(result).map((line) => detail(`  ${line}`))];
}

/** How many lines of an error, or of the result of a workflow, stand beside its step. */
const linesBeside = 8;

function firstLines(text: string): string[] {
  const lines = plainBlock(text).trim().split('\n');
  const shown = lines.slice(0, linesBeside).map((line) => clip(line, shownValue));
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `… ${more} more ${more === 1 ? 'line' : 'lines'}: --step shows all`] : shown;
}

function detail(text: string): Line {
  return [span(`    ${text}`, 'dim')];
}

function attemptLine(attempt: WorkflowStep['attempts'][number], now: number): Line[] {
  const { attempt: number, state, error, sessionId, executionId, waiting } = attempt;
  const parts = [
    `attempt ${number}: ${state}${state === 'running' && waiting ? `, waits for ${waiting.for}` : ''}`,
    ...tookAndUsed(attempt, now),
    ...(sessionId === undefined ? [] : [sessionId]),
    executionId,
  ];
  const lines = error === undefined ? [] : firstLines(`${error.code}: ${error.message}`);
  return [detail(parts.join(' · ')), ...lines.map((line): Line => [span(`      ${line}`, 'bad')])];
}

function outputLines({
  outputs,
  outputsCut,
  attempts,
}: Pick<WorkflowStep, 'outputs' | 'outputsCut'> & {
  readonly attempts?: readonly { readonly directory?: string | undefined }[];
}): Line[] {
  const directory = attempts?.at(-1)?.directory;
  if (outputsCut)
    return [
      detail(`outputs: too long to be shown${directory === undefined ? '' : `: ${directory}/outputs`}`),
    ];
  return outputs === undefined ? [] : shownValues(outputs).map((text) => detail(`output ${text}`));
}

function shownValues(values: Readonly<Record<string, unknown>>): string[] {
  const entries = Object.entries(values);
  const shown = entries.slice(0, mostValues).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return clip(`${plainLine(name)} = ${plainLine(text)}`, shownValue);
  });
  return entries.length > mostValues ? [...shown, `… and ${entries.length - mostValues} more`] : shown;
}

/** One attempt whole: what it was told, what came of it, and how to see the rest. Texts break at `columns`. */
export function attemptLines(view: StepAttemptView, now: number, columns: number): Line[] {
  const { attempt, executionId, type, command, question, result, messages, messagesCount = 0 } = view;
  const answer = type === 'script' ? 'It printed' : type === 'human' ? 'The answer' : 'It answered';
  const isTold = messages !== undefined && messages.length > 0;
  return [
    [],
    [span(`Attempt ${attempt} (${executionId})`, 'strong')],
    ...block('It ran', command, columns),
    ...block('It asked', question, columns),
    ...(isTold ? messages.flatMap((message) => messageLines(message, messagesCount, now, columns)) : []),
    ...(view.error ? block('It failed', `${view.error.code}: ${view.error.message}`, columns) : []),
    // What an agent said stands below its message.
    ...(isTold ? [] : block(view.resultCut ? `${answer} (the beginning)` : answer, result, columns)),
    ...outputBlock(view, columns),
    ...placeLines(view),
  ];
}

type Message = NonNullable<StepAttemptView['messages']>[number];

function messageLines(message: Message, count: number, now: number, columns: number): Line[] {
  const { index, row, attempt, state, text, textCut, result, resultCut, error } = message;
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  const where = row === undefined ? '' : ` (row ${row + 1})`;
  const parts = [`Message ${index + 1} of ${count}${where}${again}: ${state}`, ...tookAndUsed(message, now)];
  return [
    [span(`  ${parts.join(' · ')}`, 'strong')],
    ...(text === undefined ? [detail('not sent yet')] : indented(text, '    > ', columns)),
    ...(textCut ? [detail('… its record has all of it')] : []),
    ...(error ? [[span(`    ${plainLine(`${error.code}: ${error.message}`)}`, 'bad')] as Line] : []),
    ...(result === undefined ? [] : indented(result, '    < ', columns)),
    ...(resultCut ? [detail('… its record has all of it')] : []),
    ...gateLines(message, now, columns),
  ];
}

/** What has to hold before the next message is sent, and whether it did. */
function gateLines({ gate, state }: Message, now: number, columns: number): Line[] {
  if (!gate) return [];
  const isToCome = state === 'queued' || state === 'running' || state === 'succeeded';
  const open = isToCome ? 'looked at when all below the message is closed' : 'not looked at';
  const words = gate.state === undefined ? open : gate.state === 'succeeded' ? 'passed' : gate.state;
  const line: Line = [
    span(`    gate ${[words, ...tookAndUsed(gate, now)].join(' · ')}`, gate.error ? 'bad' : 'plain'),
    span(`: ${clip(plainLine(gate.says), shownValue)}`, 'dim'),
  ];
  return [line, ...(gate.error ? indented(gate.error.message, '      ', columns) : [])];
}

function outputBlock(view: StepAttemptView, columns: number): Line[] {
  if (view.outputsCut) return [detail(`outputs: too long to be shown: ${view.directory ?? ''}/outputs`)];
  if (view.outputs === undefined) return [];
  const lines = Object.entries(view.outputs).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    return indented(`${plainLine(name)} = ${text}`, '    ', columns);
  });
  return [[span('  Outputs', 'strong')], ...lines];
}

function placeLines({ type, executionId, sessionId, directory, files, closed }: StepAttemptView): Line[] {
  const isKept = files.length > 0 && directory !== undefined;
  const below = type === 'workflow' ? 'its steps: stemma workflow show' : 'all below it: stemma tree';
  return [
    ...(sessionId === undefined ? [] : [[span(`  transcript: stemma logs ${sessionId}`)] as Line]),
    ...(type === 'script' || type === 'human' ? [] : [[span(`  ${below} ${executionId}`)] as Line]),
    ...(isKept
      ? [
          [span(`  record: ${plainLine(directory)}`)] as Line,
          ...files.map(({ path, bytes }) => detail(`${plainLine(path)} (${bytes} bytes)`)),
        ]
      : closed
        ? []
        : [detail('its record is written when it has ended')]),
  ];
}

function block(title: string, text: string | undefined, columns: number): Line[] {
  if (text === undefined || text.trim() === '') return [];
  return [[span(`  ${title}`, 'strong')], ...indented(text, '    ', columns)];
}

function indented(text: string, before: string, columns: number): Line[] {
  const lines = wrap(plainBlock(text).trimEnd(), columns - before.length);
  const shown = lines.slice(0, mostLines).map((line): Line => [span(`${before}${line}`)]);
  if (lines.length > mostLines) shown.push(detail(`… ${lines.length - mostLines} more lines`));
  return shown;
}
