import { assertNever } from '../../base/assert-never.ts';
import type { Admission } from '../../ledger/line.ts';
import type { Question } from '../../ledger/questions.ts';
import type { Session } from '../../ledger/session.ts';
import type { Workspace } from '../../ledger/workspace.ts';
import type { MemoryState } from './state.ts';

type Of<Name extends Question['ask']> = Extract<Question, { readonly ask: Name }>;

/** Answers who has a turn, and who waits for a slot, from rows in memory. */
export function answerOfLine(
  state: MemoryState,
  question: Of<
    'lanesHeld' | 'laneHolders' | 'admission' | 'firstInLine' | 'lastInLine' | 'lineHeads' | 'nextInLine'
  >,
): unknown {
  const held = (): Session[] => [...state.rows('session').values()].filter((row) => row.laneTurn !== null);
  const line = [...state.rows('admission').values()].sort((a, b) => a.place - b.place);
  switch (question.ask) {
    case 'lanesHeld': {
      const [of, name] = question.args;
      return held().filter((row) => of === 'all' || row[of] === name).length;
    }
    case 'laneHolders':
      return held()
        .sort((a, b) => compare(a.laneTurn ?? '', b.laneTurn ?? ''))
        .slice(0, question.args[0]);
    case 'admission':
      return state.rows('admission').get(question.args[0]);
    case 'firstInLine':
      return line[0];
    case 'lastInLine':
      return line.at(-1)?.place ?? 0;
    case 'lineHeads': {
      const isHead = (row: Admission, i: number): boolean =>
        line.findIndex((other) => other.agent === row.agent && other.project === row.project) === i;
      return line.filter(isHead).sort((a, b) => compare(a.agent, b.agent) || compare(a.project, b.project));
    }
    case 'nextInLine': {
      const [agent, project, place] = question.args;
      return line.find((row) => row.agent === agent && row.project === project && row.place > place);
    }
    default:
      return assertNever(question);
  }
}

/** Answers where runs work, and who waits for a lock, from rows in memory. */
export function answerOfLocks(
  state: MemoryState,
  question: Of<'workspace' | 'lockHolder' | 'lockNext' | 'lockLast' | 'lockWaiters'>,
): unknown {
  const [id] = question.args;
  const waits = [...state.rows('workspace').values()]
    .filter((row) => row.place !== null)
    .sort((a, b) => (a.place ?? 0) - (b.place ?? 0));
  switch (question.ask) {
    case 'workspace':
      return state.rows('workspace').get(id);
    case 'lockHolder':
      return waits.find((row) => row.lock === id && row.isHeld);
    case 'lockNext': {
      const [, place] = question.args;
      return waits.find((row) => row.lock === id && !row.isHeld && (row.place ?? 0) > place);
    }
    case 'lockLast':
      return waits.findLast((row) => row.lock === id)?.place ?? 0;
    case 'lockWaiters': {
      const isHere = ({ runId, isHeld }: Workspace): boolean => {
        const run = state.rows('run').get(runId);
        return !isHeld && run?.sessionId === id && run.state === 'running';
      };
      return waits.filter(isHere).sort((a, b) => compare(a.runId, b.runId));
    }
    default:
      return assertNever(question);
  }
}

/** The order of SQLite's binary collation. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
