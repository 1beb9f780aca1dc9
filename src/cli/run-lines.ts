import type { Run } from '../contract/run.ts';
import { formatDuration } from '../words/durations.ts';
import type { Snapshot } from './follow.ts';
import { type Line, span } from '../words/line.ts';
import { stepCountWords } from '../words/step-words.ts';
import { plainLine, wrap } from '../words/text.ts';
import { type TreeOptions, treeLines } from '../words/tree-view.ts';
import { unicodeSigns } from '../words/tree-words.ts';

/**
 * What is followed, as lines: the trees of a run's messages in order, then the messages that are not sent yet. With
 * `rows`, trees that are closed give way first, so that what runs stays visible.
 */
export function snapshotLines(snapshot: Snapshot, options: TreeOptions): Line[] {
  const rows = options.rows ?? Number.POSITIVE_INFINITY;
  const whole = { ...options, rows: Number.POSITIVE_INFINITY };
  const pending = snapshot.run ? pendingLines(snapshot.run, options) : [];
  const trees = snapshot.trees.map((tree) => ({ tree, lines: treeLines(tree, whole) }));
  const count = trees.reduce((sum, { lines }) => sum + lines.length, pending.length);
  if (count <= rows) return [...trees.flatMap(({ lines }) => lines), ...pending];
  const closed = trees
    .filter(({ tree }) => tree.closed)
    .flatMap(({ tree }) => treeLines(tree, { ...options, rows: 1 }));
  const open = trees.filter(({ tree }) => !tree.closed);
  const waiting = pending.length > 1 ? [[span(`${pending.length} more messages, not sent`, 'dim')]] : pending;
  const roomForOpen = Math.max(
    3,
    Math.floor((rows - waiting.length) / Math.max(1, open.length)) - (closed.length > 0 ? 1 : 0),
  );
  const openLines = open.flatMap(({ tree }) => treeLines(tree, { ...options, rows: roomForOpen }));
  const roomForClosed = rows - waiting.length - openLines.length;
  return [...lastOf(closed, roomForClosed), ...openLines, ...waiting].slice(0, rows);
}

/** What the trees cannot show, if there is anything: one line. */
export function unseenLines({ trees }: Pick<Snapshot, 'trees'>): Line[] {
  const names = [...new Set(trees.flatMap(({ unseen = [] }) => unseen))].map(plainLine);
  if (names.length === 0) return [];
  return [
    [span(`not seen: what ${names.join(', ')} left running in the background; it holds nothing`, 'dim')],
  ];
}

/**
 * Where a run stands: in a sentence how many of its messages are closed and how many are still to be sent, and in another
 * one what it waits for, if it does.
 */
export function runLines(run: Run, columns: number, now: number): Line[] {
  const { id, name, state, outcome, outcomeCode, waiting, workflow } = run;
  const { total, closed, unsent } = countsOf(run);
  const end = state === 'ended' ? `ended: ${outcome ?? 'closed'}` : state;
  const code = outcomeCode === undefined ? '' : ` (${plainLine(outcomeCode)})`;
  const left = unsent === 0 ? '' : `, ${unsent} ${state === 'ended' ? 'never sent' : 'not sent yet'}`;
  // A run without a name is called so.
  const title = name === undefined || name === 'run' ? `run ${id}` : `run ${plainLine(name)} (${id})`;
  const done = `${closed} of ${total} messages closed${left}`;
  const text = `${title} ${end}${code}; ${workflow ? stepCountWords(workflow.counts) : done}.`;
  return [
    ...wrap(text, columns).map((line) => [span(line, 'strong')]),
    ...(waiting
      ? wrap(`It ${runWaitingWords(waiting, now)}.`, columns).map((line) => [span(line, 'warn')])
      : []),
  ];
}

/** What can be done with a run that has ended and did not succeed, or with one that waits to try again. */
export function adviceLines({ id, state, outcome, waiting, workflow }: Run, columns: number): Line[] {
  const isToTry = state !== 'ended' && waiting?.for === 'retry';
  if (!isToTry && (state !== 'ended' || outcome === 'succeeded')) return [];
  const resume = isToTry
    ? `stemma resume ${id} tries again now`
    : `stemma resume ${id} goes on where it stopped`;
  const shows = workflow ? `stemma workflow show ${id} shows its steps; ` : '';
  return wrap(`-> ${shows}${resume}`, columns).map((line) => [span(line, 'live')]);
}

/** `waits for retry 2m, 58s left: message 2 failed …`: what a run waits for. */
function runWaitingWords(waiting: NonNullable<Run['waiting']>, now: number): string {
  const { for: what, since, until, text } = waiting;
  const lasts = formatDuration(Math.max(0, now - Date.parse(since)));
  const left = until === undefined ? '' : `, ${formatDuration(Math.max(0, Date.parse(until) - now))} left`;
  const when = until === undefined ? '' : ` (until ${until})`;
  return `waits for ${what} ${lasts}${left}${when}${text === undefined ? '' : `: ${plainLine(text)}`}`;
}

/** How many messages there are, and how far they are: of very many only some are here. */
function countsOf(run: Run): { readonly total: number; readonly closed: number; readonly unsent: number } {
  const { messages, messagesCount: total = messages.length, messagesClosed = 0, next = 0 } = run;
  if (total > messages.length) return { total, closed: messagesClosed, unsent: Math.max(0, total - next) };
  const unsent = messages.filter((message) => isToBeSent(run, message)).length;
  const closed = messages.filter((message) => !isToBeSent(run, message) && isClosed(message)).length;
  return { total, closed, unsent };
}

type RunMessage = Run['messages'][number];

// Of a run that has begun again, messages further on have attempts of before.
function isToBeSent({ state, next }: Run, { index, attempts }: RunMessage): boolean {
  return attempts.length === 0 || (state !== 'ended' && next !== undefined && index >= next);
}

function isClosed({ attempts }: RunMessage): boolean {
  return attempts.at(-1)?.closed === true;
}

// What a run that ended did not come to stays in sight: it is what is left to do.
function pendingLines(run: Run, options: TreeOptions): Line[] {
  const { queued, cancelled } = options.signs ?? unicodeSigns;
  const [sign, remark] = run.state === 'ended' ? [cancelled, 'never sent'] : [queued, 'not sent yet'];
  return run.messages
    .filter((message) => isToBeSent(run, message))
    .map((message) => {
      const words = message.attempts.length > 0 ? 'to be sent again' : remark;
      const kind = run.workflow ? '' : 'message ';
      return [span(`${sign} ${kind}${plainLine(message.text)}`), span(` (${words})`, 'dim')];
    });
}

function lastOf(lines: readonly Line[], room: number): Line[] {
  if (lines.length <= room) return [...lines];
  if (room <= 0) return [];
  const kept = room - 1;
  const left = span(`${lines.length - kept} closed messages before`, 'dim');
  return [[left], ...lines.slice(lines.length - kept)];
}
