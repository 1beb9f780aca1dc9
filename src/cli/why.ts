import type { Execution, Holding, TreeView } from '../contract/execution.ts';
import { heldBy } from '../words/held-by.ts';
import { type Line, span, type Tone } from '../words/line.ts';
import { plainLine, wrap } from '../words/text.ts';
import { evidenceWords, holdingWords, shortId, stateWords, titleOf } from '../words/tree-words.ts';

/** Why an execution is not closed: everything that holds it, each with the way down to it. */
export interface Explanation {
  readonly execution: Execution;
  readonly closed: boolean;
  readonly holding: readonly (Holding & { readonly path: readonly string[]; readonly advice: string })[];
  /** Of one that is closed and did not succeed, the failures below it that no other below them explains. */
  readonly failures: readonly Failure[];
}

/** A failure, with the way down to it. */
interface Failure {
  readonly executionId: string;
  readonly path: readonly string[];
  readonly code: string;
  readonly message: string;
}

/** So many failures are named. */
const mostFailures = 10;

/** Finds, in the tree of an execution, what holds that execution: all that is open below it, itself included. */
export function explain(execution: Execution, view: TreeView): Explanation {
  const byId = new Map(view.executions.map((other) => [other.id, other]));
  const about = new Map(view.notices.map(({ id, executionId }) => [id, executionId]));
  const holding = view.holding.flatMap((held) => {
    const id = held.executionId ?? about.get(held.noticeId ?? '') ?? '';
    const path = pathDown(byId, execution.id, id);
    return path ? [{ ...held, path, advice: adviceFor(held) }] : [];
  });
  // A holder that the view does not place below anything (a hold edge from another tree) concerns the root.
  const isRoot = execution.parentId === null;
  const placeless = view.holding.filter((held) => isRoot && !holding.some((placed) => isSame(placed, held)));
  const rest = placeless.map((held) => ({ ...held, path: [], advice: adviceFor(held) }));
  const { closed } = execution;
  const isWell = (execution.outcome ?? execution.state) === 'succeeded';
  const failures = closed && !isWell ? failuresBelow(byId, execution) : [];
  return { execution, closed, holding: closed ? [] : [...holding, ...rest], failures };
}

/** A workflow fails because a step does, and that because its script does: the last of them says why. */
function failuresBelow(byId: ReadonlyMap<string, Execution>, top: Execution): Failure[] {
  const latest = new Map<string, number>();
  for (const one of byId.values())
    latest.set(thingOf(one), Math.max(one.attempt, latest.get(thingOf(one)) ?? 0));
  // What was tried again, and whatever was below it, is not why.
  const isMended = (one: Execution | undefined): boolean =>
    one !== undefined &&
    one.id !== top.id &&
    ((latest.get(thingOf(one)) ?? 0) > one.attempt || isMended(byId.get(one.parentId ?? '')));
  const failed = [...byId.values()].filter(
    (one) => (one.state === 'failed' || one.state === 'lost') && !isMended(one),
  );
  const explained = new Set(failed.map(({ parentId }) => parentId));
  const found = failed.flatMap(({ id, error, state }): Failure[] => {
    const path = explained.has(id) || id === top.id ? undefined : pathDown(byId, top.id, id);
    const { code = state.toUpperCase(), message = '' } = error ?? {};
    return path ? [{ executionId: id, path, code, message }] : [];
  });
  return found.slice(-mostFailures);
}

function thingOf({ parentId, kind, key, name }: Execution): string {
  return `${parentId} ${kind} ${key ?? name}`;
}

/**
 * An explanation as lines, none wider than `columns`: one sentence, then for each thing that holds its name, what was
 * seen, and what one can do.
 */
export function explanationLines(explanation: Explanation, now: number, columns: number): Line[] {
  const { execution, closed, holding } = explanation;
  const title = titleOf(execution);
  if (closed) {
    const outcome = execution.outcome ?? execution.state;
    const code = execution.outcomeCode === undefined ? '' : ` (${plainLine(execution.outcomeCode)})`;
    return [
      ...indented(`${title} is closed: ${outcome}${code}. Nothing holds it.`, '', 'strong', columns),
      ...reasonLines(explanation, columns),
    ];
  }
  const what = holding.length === 0 ? 'The server names nothing that holds it.' : 'It waits for:';
  const head = indented(`${title} is open (${openWords(execution, now)}). ${what}`, '', 'strong', columns);
  return [...head, ...holding.flatMap((held) => holdingLines(held, now, columns))];
}

function reasonLines({ execution, failures }: Explanation, columns: number): Line[] {
  const { error, cancelReason, outcome, state } = execution;
  if ((outcome ?? state) === 'succeeded') return [];
  return [
    ...(cancelReason ? indented(`It was stopped: ${plainLine(cancelReason)}`, '', 'warn', columns) : []),
    ...(error ? indented(plainLine(`${error.code}: ${error.message}`), '', 'bad', columns) : []),
    ...failures.flatMap(({ executionId, path, code, message }) => [
      ...indented(`- ${path.map(plainLine).join(' > ')} (${shortId(executionId)})`, '', 'plain', columns),
      ...indented(plainLine(message === '' ? code : `${code}: ${message}`), '    ', 'bad', columns),
    ]),
  ];
}

function openWords(execution: Execution, now: number): string {
  const words = stateWords(execution, now);
  const isLive = execution.state === 'running' || execution.state === 'queued';
  return isLive ? words : `${words.replace(/^open /, '')}; itself ${execution.state}`;
}

function holdingLines(held: Explanation['holding'][number], now: number, columns: number): Line[] {
  const way = held.path.map(plainLine).join(' > ');
  const { executionId = '', noticeId } = held;
  const name = way || plainLine(held.name ?? shortId(executionId));
  const names =
    noticeId === undefined ? [[executionId, name] as const] : [[noticeId, `the result of ${name}`] as const];
  const words = holdingWords(held, new Map(names), now);
  const evidence = evidenceWords(held);
  return [
    ...indented(`- ${words}`, '', 'plain', columns),
    ...(evidence === '' || words.includes(evidence) ? [] : indented(evidence, '    ', 'dim', columns)),
    ...indented(`-> ${held.advice}`, '    ', 'live', columns),
  ];
}

function indented(text: string, indent: string, tone: Tone, columns: number): Line[] {
  return wrap(text, columns - indent.length).map((line) => [span(`${indent}${line}`, tone)]);
}

function isSame(left: Holding, right: Holding): boolean {
  return left.executionId === right.executionId && left.noticeId === right.noticeId && left.why === right.why;
}

// The names from below `top` down to `id`, or undefined when it is not in that subtree.
function pathDown(byId: ReadonlyMap<string, Execution>, top: string, id: string): string[] | undefined {
  const path: string[] = [];
  for (let at = byId.get(id); at; at = at.parentId === null ? undefined : byId.get(at.parentId)) {
    if (at.id === top) return path.length === 0 ? [titleOf(at)] : path;
    path.unshift(titleOf(at));
  }
  return undefined;
}

const advice: Readonly<Record<string, (id: string) => string>> = {
  running: (id) => `wait, or stemma cancel ${id}`,
  starting: (id) => `wait until the agent begins, or stemma cancel ${id}`,
  check_pending: () => 'wait: the check runs when all else below is closed',
  cancelling: () => 'wait: it was asked to stop',
  queued: (id) => `wait for its turn, or stemma cancel ${id}`,
  waiting_input: (id) => `stemma answer ${id} shows what is asked, and takes the answer`,
  waiting_capacity: (id) =>
    `it goes on by itself at the reset, if one is known; or stemma answer ${id} resume`,
  waiting_login: (id) => `sign the agent in again, in its own program; then stemma answer ${id} resume`,
  waiting_lane: () => 'wait until the session is free, or stemma session interrupt SESSION',
  waiting_slot: () => 'wait until another turn ends, or raise limits in stemma.yaml',
  waiting_workspace: () => 'wait until the run that has it has ended, or cancel that run',
  notice_owed: (id) => `it is delivered when the session is free; or stemma notice waive ${id} --reason WHY`,
  notice_backing_off: (id) => `wait for the next try, or stemma notice redeliver ${id}`,
  notice_claimed: (id) => `it is being delivered; or stemma notice redeliver ${id}`,
  notice_handed: () => 'its continuation handles it; stemma session interrupt SESSION gives it up',
  shared_turn: () => 'it was launched in a turn shared with another message: wait for that',
  steer_unresolved: (id) =>
    `the agent may still take the text: restart the agent, or stemma notice waive ${id} --reason WHY`,
  unkillable: () => 'a process survived SIGKILL: end it by hand',
};

/** What one can do about it. */
export function adviceFor(holding: Holding): string {
  const { executionId, noticeId } = holding;
  const why = heldBy(holding);
  // What waits is answered by its execution, also where it is a result that cannot be delivered.
  const isAnswered = why.startsWith('waiting_');
  const id = shortId((isAnswered ? executionId : noticeId) ?? executionId ?? noticeId ?? 'ID');
  const known = Object.hasOwn(advice, why) ? advice[why] : undefined;
  if (known) return known(id);
  return executionId === undefined ? 'wait' : `wait, or stemma cancel ${id}`;
}
