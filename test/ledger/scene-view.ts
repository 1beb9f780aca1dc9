import type { ExecutionId, SessionId } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import type { Holding } from '../../src/ledger/holding.ts';
import { holding } from '../../src/ledger/holding.ts';
import type { Notice } from '../../src/ledger/notice.ts';
import type { Run, Session } from '../../src/ledger/session.ts';
import type { Turn } from '../../src/ledger/turn.ts';
import { Model } from './model.ts';
import { existing, heldBackIn, limitsIn, listed, workflowsIn } from './state.ts';

/** A ledger in memory, and what it says now. */
export class SceneView {
  readonly model: Model;

  constructor(options: { readonly checks?: boolean } = {}) {
    this.model = new Model(options);
  }

  get now(): number {
    return this.model.clock.now();
  }

  row(id: ExecutionId): Execution {
    return existing(this.model.state.executions, id);
  }

  sessionRow(id: SessionId): Session {
    return existing(this.model.state.sessions, id);
  }

  runRow(run: Run): Run {
    return existing(this.model.state.runs, run.id);
  }

  /** The notice of an execution. */
  notice(id: ExecutionId): Notice {
    return existing(this.model.state.noticeOf, id);
  }

  /** Whether an execution owes or owed a notice. */
  hasNotice(id: ExecutionId): boolean {
    return this.model.state.noticeOf.has(id);
  }

  children(id: ExecutionId): readonly Execution[] {
    return listed(this.model.state.children, id);
  }

  /** The one execution of this kind. */
  only(kind: Execution['kind']): Execution {
    const [row, ...others] = [...this.model.state.executions.values()].filter((each) => each.kind === kind);
    if (!row || others.length > 0) throw new Error(`${others.length + (row ? 1 : 0)} executions are ${kind}`);
    return row;
  }

  /** The task that the agent of a session names so. */
  task(sessionId: SessionId, nativeId: string): Execution {
    const tasks = [...this.model.state.executions.values()].filter((row) => row.kind === 'task');
    const task = tasks.find((row) => row.runsIn === sessionId && row.nativeId === nativeId);
    if (!task) throw new Error(`no task ${nativeId}`);
    return task;
  }

  /** Who handles, or handled, the result of an execution. */
  continuationOf(id: ExecutionId): Execution {
    const { continuationId } = this.notice(id);
    if (continuationId === null) throw new Error(`the result of ${id} is with nobody`);
    return this.row(continuationId);
  }

  /** Why a root is open, by name. */
  why(rootId: ExecutionId): Holding[] {
    const { state } = this.model;
    const executions = [...state.executions.values()].filter((row) => row.rootId === rootId);
    const ids = new Set<string>(executions.map((row) => row.id));
    const turns = new Map<ExecutionId, Turn>();
    for (const { id } of executions)
      for (const turn of listed(state.turnsOf, id)) if (turn.state !== 'ended') turns.set(id, turn);
    return holding({
      executions,
      notices: [...state.notices.values()].filter((row) => row.rootId === rootId),
      held: state.snapshot.holds
        .filter((edge) => ids.has(edge.holderId) && !ids.has(edge.executionId))
        .map((edge) => this.row(edge.executionId)),
      turns,
      steers: [...state.steers.values()].filter((row) => row.endedAt === null),
      limits: limitsIn(state),
      heldBack: heldBackIn(state),
      workflows: workflowsIn(state),
      now: this.now,
    });
  }
}
