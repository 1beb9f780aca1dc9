import { assertNever } from '../../base/assert-never.ts';
import type { Execution } from '../../ledger/execution.ts';
import type { Question } from '../../ledger/questions.ts';
import type { MemoryState } from './state.ts';

type OfRuns = Extract<
  Question,
  { readonly ask: 'runRow' | 'runsOf' | 'runOwnedBy' | 'latestOfRun' | 'messagesOfRun' | 'lastAnswer' }
>;

/** Answers the questions about runs and their messages. */
export function answerOfRuns(state: MemoryState, question: OfRuns): unknown {
  const [id] = question.args;
  const runs = [...state.rows('run').values()].sort(byId);
  switch (question.ask) {
    case 'runRow':
      return state.runRow(...question.args);
    case 'runsOf':
      return runs.filter((run) => run.sessionId === id && run.state === 'running');
    case 'runOwnedBy':
      return runs.find((run) => run.ownerId === id);
    case 'latestOfRun':
      return messagesOf(state, id).findLast((row) => row.runIndex === question.args[1]);
    case 'messagesOfRun':
      return messagesOf(state, id).slice(0, question.args[1]);
    case 'lastAnswer': {
      const [, root] = question.args;
      const answers = [...state.rows('execution').values()].filter(
        (row) =>
          row.runsIn === id && row.answerPlace !== null && (root === null ? row.closed : row.rootId === root),
      );
      return answers.sort(byAnswer).at(-1)?.result;
    }
    default:
      return assertNever(question);
  }
}

/** By index and attempt. */
function messagesOf(state: MemoryState, runId: string): Execution[] {
  return [...state.rows('execution').values()]
    .filter((row) => row.runId === runId)
    .sort((a, b) => (a.runIndex ?? 0) - (b.runIndex ?? 0) || a.attempt - b.attempt);
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function byAnswer(a: Execution, b: Execution): number {
  return (a.answerPlace ?? 0) - (b.answerPlace ?? 0) || byId(a, b);
}
