import { assertNever } from '../../base/assert-never.ts';
import type { Question } from '../../ledger/questions.ts';
import type { Connection, Query } from './connection.ts';
import type { IdStatements } from './id-statements.ts';
import { idStatements } from './id-statements.ts';
import type { LedgerRows } from './rows.ts';

/**
 * Answers the questions of rules. A list is first a list of ids, made into one JSON text by an indexed statement, then
 * rows by id: most of them are remembered.
 */
export class SqlAnswers {
  readonly #tables: LedgerRows;
  readonly #ids: IdStatements;
  readonly #runRow: Query;

  constructor(db: Connection, tables: LedgerRows) {
    this.#tables = tables;
    this.#ids = idStatements(db);
    this.#runRow = db.prepare('SELECT row FROM run_rows WHERE run_id = ? AND position = ?');
  }

  answer(question: Question): unknown {
    const { executions, notices, sessions, turns, inputs, steers, runs } = this.#tables;
    const { schedules, occurrences, notifications, dispatches } = this.#tables;
    const ids = this.#ids;
    switch (question.ask) {
      case 'execution':
        return executions.get(question.args[0]);
      case 'session':
        return sessions.get(question.args[0]);
      case 'turn':
        return turns.get(question.args[0]);
      case 'notice':
        return notices.get(question.args[0]);
      case 'steer':
        return steers.get(question.args[0]);
      case 'run':
        return runs.get(question.args[0]);
      case 'input':
        return inputs.get(question.args[0]);
      case 'holders':
        return [...this.#tables.holdersOf(question.args[0])];
      case 'owners':
        return executions.all(ids.owners(question.args[0]));
      case 'refusedTurns':
        return ids.refusedTurns(...question.args);
      case 'activeTurnOf':
        return first(turns.all(ids.activeTurnOf(question.args[0])));
      case 'held':
        return executions.all(ids.held(question.args[0]));
      case 'closedWorkflowsOf':
        return executions.all(ids.closedWorkflowsOf(...question.args));
      case 'openChildren':
        return executions.all(ids.openChildren(...question.args));
      case 'countedChildren':
        return executions.all(ids.countedChildren(...question.args));
      case 'keyed':
        return first(executions.all(ids.keyed(...question.args)));
      case 'latestKeyed':
        return first(executions.all(ids.latestKeyed(...question.args)));
      case 'liveTasks':
        return executions.all(ids.liveTasks(question.args[0]));
      case 'taskNamed':
        return first(executions.all(ids.taskNamed(...question.args)));
      case 'openOwnedBy':
        return executions.all(ids.openOwnedBy(question.args[0]));
      case 'limited':
        return sessions.all(ids.limited(question.args[0]));
      case 'limitedNotices':
        return notices.all(ids.limitedNotices(question.args[0]));
      case 'waitingIn':
        return executions.all(ids.waitingIn(question.args[0]));
      case 'sentText':
        return (
          first(turns.all(ids.sentTurn(question.args[0]))) ??
          first(steers.all(ids.sentSteer(question.args[0])))
        )?.text;
      case 'nextInput':
        return first(inputs.all(ids.nextInput(question.args[0])));
      case 'inputs':
        return inputs.all(ids.inputs(question.args[0]));
      case 'headPosition':
        return ids.headPosition(question.args[0]);
      case 'tailPosition':
        return ids.tailPosition(question.args[0]);
      case 'owed':
        return notices.all(ids.owed(...question.args));
      case 'batchesFor':
        return executions.all(ids.batchesFor(question.args[0]));
      case 'pendingOn':
        return notices.all(ids.pendingOn(question.args[0]));
      case 'pendingFor':
        return notices.all(ids.pendingFor(question.args[0]));
      case 'noticesOfSteer':
        return notices.all(ids.noticesOfSteer(question.args[0]));
      case 'noticesOfContinuation':
        return notices.all(ids.noticesOfContinuation(question.args[0]));
      case 'noticeOf':
        return first(notices.all(ids.noticeOf(question.args[0])));
      case 'openSteers':
        return steers.all(ids.openSteers(question.args[0]));
      case 'runsOf':
        return runs.all(ids.runsOf(question.args[0]));
      case 'runOwnedBy':
        return first(runs.all(ids.runOwnedBy(question.args[0])));
      case 'runRow':
        return this.#runRow.json(question.args);
      case 'schedule':
        return schedules.get(question.args[0]);
      case 'scheduleNamed':
        return first(schedules.all(ids.scheduleNamed(...question.args)));
      case 'schedulesOf':
        return schedules.all(ids.schedulesOf(question.args[0]));
      case 'dependents':
        return schedules.all(ids.dependents(question.args[0]));
      case 'occurrence':
        return occurrences.get(question.args[0]);
      case 'occurrenceAt':
        return first(occurrences.all(ids.occurrenceAt(...question.args)));
      case 'openOccurrences':
        return occurrences.all(ids.openOccurrences(...question.args));
      case 'liveRunsOf':
        return runs.all(ids.liveRunsOf(question.args[0]));
      case 'lastRunOf':
        return first(runs.all(ids.lastRunOf(question.args[0])));
      case 'sessionTotals':
        return ids.sessionTotals(question.args[0]);
      case 'notification':
        return notifications.get(question.args[0]);
      case 'latestNotification':
        return first(notifications.all(ids.latestNotification(question.args[0])));
      case 'owedDispatches':
        return dispatches.all(ids.owedDispatches(...question.args));
      case 'openGroups':
        return dispatches.all(ids.openGroups(question.args[0]));
      case 'dispatchesOf':
        return dispatches.all(ids.dispatchesOf(question.args[0]));
      case 'lastVerdictOf':
        return first(notifications.all(ids.lastVerdictOf(question.args[0])));
      case 'latestOfRun':
        return first(executions.all(ids.latestOfRun(...question.args)));
      case 'messagesOfRun':
        return executions.all(ids.messagesOfRun(...question.args));
      case 'lastAnswer': {
        const [session, root] = question.args;
        const found = root === null ? ids.lastAnswerOf(session) : ids.lastAnswerBelow(session, root);
        return first(executions.all(found))?.result ?? undefined;
      }
      case 'lanesHeld':
        return ids.lanesHeld(...question.args);
      case 'laneHolders':
        return sessions.all(ids.laneHolders(question.args[0]));
      case 'turnsIn':
        return turns.all(ids.turnsIn(question.args[0]));
      case 'workspace':
      case 'lockHolder':
      case 'lockNext':
      case 'lockLast':
      case 'lockWaiters':
        return this.#ofLocks(question);
      case 'graph':
      case 'graphStep':
      case 'graphStepNamed':
      case 'graphSteps':
      case 'graphOfStep':
      case 'backingOff':
      case 'openEvaluationsOf':
        return this.#ofGraphs(question);
      default:
        return this.#ofLine(question);
    }
  }

  // Where nothing was ever limited nobody is in line, and nothing is asked.
  #ofLine(
    question: Of<'admission' | 'firstInLine' | 'lastInLine' | 'lineHeads' | 'nextInLine' | 'heldBackNotices'>,
  ): unknown {
    const { admissions, notices } = this.#tables;
    const ids = this.#ids;
    switch (question.ask) {
      case 'admission':
        return admissions.get(question.args[0]);
      case 'firstInLine':
        return admissions.isUnused ? undefined : first(admissions.all(ids.firstInLine()));
      case 'lastInLine':
        return ids.lastInLine();
      case 'lineHeads':
        return admissions.isUnused ? [] : admissions.all(ids.lineHeads());
      case 'nextInLine':
        return first(admissions.all(ids.nextInLine(...question.args)));
      case 'heldBackNotices':
        return admissions.isUnused ? [] : notices.all(ids.heldBackNotices(question.args[0]));
      default:
        return assertNever(question);
    }
  }

  // Where no workflow ever ran nothing is asked.
  #ofGraphs(question: GraphQuestion): unknown {
    const { graphs, graphSteps } = this.#tables;
    const ids = this.#ids;
    switch (question.ask) {
      case 'graph':
        return graphs.get(question.args[0]);
      case 'graphStep':
        return graphSteps.get(question.args[0]);
      case 'graphStepNamed':
        return first(graphSteps.all(ids.graphStepNamed(...question.args)));
      case 'graphSteps':
        return graphSteps.all(ids.graphSteps(question.args[0]));
      case 'graphOfStep':
        return graphSteps.isUnused ? undefined : first(graphSteps.all(ids.graphOfStep(question.args[0])));
      case 'backingOff':
        return graphSteps.all(ids.backingOff(...question.args));
      case 'openEvaluationsOf':
        return graphs.isUnused ? [] : graphs.all(ids.openEvaluationsOf(question.args[0]));
      default:
        return assertNever(question);
    }
  }

  #ofLocks(question: Of<'workspace' | 'lockHolder' | 'lockNext' | 'lockLast' | 'lockWaiters'>): unknown {
    const { workspaces } = this.#tables;
    const ids = this.#ids;
    switch (question.ask) {
      case 'workspace':
        return workspaces.get(question.args[0]);
      case 'lockHolder':
        return first(workspaces.all(ids.lockHolder(question.args[0])));
      case 'lockNext':
        return first(workspaces.all(ids.lockNext(...question.args)));
      case 'lockLast':
        return ids.lockLast(question.args[0]);
      case 'lockWaiters':
        return workspaces.isUnused ? [] : workspaces.all(ids.lockWaiters(question.args[0]));
      default:
        return assertNever(question);
    }
  }
}

type GraphQuestion = Of<
  'graph' | 'graphStep' | 'graphStepNamed' | 'graphSteps' | 'graphOfStep' | 'backingOff' | 'openEvaluationsOf'
>;

type Of<Name extends Question['ask']> = Extract<Question, { readonly ask: Name }>;

function first<Row>(rows: readonly Row[]): Row | undefined {
  return rows[0];
}
