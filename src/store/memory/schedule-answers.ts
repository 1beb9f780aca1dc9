import { assertNever } from '../../base/assert-never.ts';
import type { Execution } from '../../ledger/execution.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Question } from '../../ledger/questions.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { Run } from '../../ledger/session.ts';
import type { MemoryState } from './state.ts';

/** A question about schedules. */
export type ScheduleQuestion = Extract<
  Question,
  {
    readonly ask:
      | 'schedule'
      | 'scheduleNamed'
      | 'schedulesOf'
      | 'dependents'
      | 'occurrence'
      | 'occurrenceAt'
      | 'openOccurrences'
      | 'liveRunsOf'
      | 'lastRunOf'
      | 'sessionTotals';
  }
>;

/** Answers what rules ask about schedules by looking at every row. */
export function answerOfSchedules(state: MemoryState, question: ScheduleQuestion): unknown {
  const schedules = (): Iterable<Schedule> => state.rows('schedule').values();
  const occurrences = (): Iterable<Occurrence> => state.rows('occurrence').values();
  switch (question.ask) {
    case 'schedule':
      return state.rows('schedule').get(question.args[0]);
    case 'scheduleNamed': {
      const [project, name] = question.args;
      return [...schedules()].find(
        (row) => row.project === project && row.name === name && row.removedAt === null,
      );
    }
    case 'schedulesOf':
      return [...schedules()]
        .filter((row) => row.project === question.args[0] && row.removedAt === null)
        .sort((a, b) => compare(a.name, b.name));
    case 'dependents':
      return [...schedules()]
        .filter((row) => row.dependsOn === question.args[0] && row.removedAt === null)
        .sort((a, b) => compare(a.id, b.id));
    case 'occurrence':
      return state.rows('occurrence').get(question.args[0]);
    case 'occurrenceAt': {
      const [id, instant] = question.args;
      return [...occurrences()].find((row) => row.scheduleId === id && row.instant === instant);
    }
    case 'openOccurrences': {
      const [id, inTurn, limit] = question.args;
      return [...occurrences()]
        .filter((row) => row.scheduleId === id && row.inTurn === inTurn && row.decidedAt === null)
        .sort((a, b) => a.instant - b.instant)
        .slice(0, limit);
    }
    case 'liveRunsOf':
      return runsOf(state, question.args[0]).filter((run) => run.endedAt === null);
    case 'lastRunOf':
      return runsOf(state, question.args[0])
        .filter((run) => run.endedAt !== null)
        .sort((a, b) => Number(a.endedAt) - Number(b.endedAt) || compare(a.id, b.id))
        .at(-1);
    case 'sessionTotals':
      return totalsOf([...state.rows('execution').values()].filter((row) => row.runsIn === question.args[0]));
    default:
      return assertNever(question);
  }
}

function runsOf(state: MemoryState, scheduleId: string): Run[] {
  const runs = [...state.rows('run').values()].filter((run) => run.scheduleId === scheduleId);
  return runs.sort((a, b) => compare(a.id, b.id));
}

function totalsOf(rows: readonly Execution[]): { readonly turns: number; readonly tokens: number } {
  const own = rows.filter(({ kind }) => kind === 'message' || kind === 'continuation' || kind === 'late');
  const tokens = own.reduce(
    (sum, { usage }) => sum + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
    0,
  );
  return { turns: own.length, tokens };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
