import { FreshIds } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import { enqueue } from '../../src/ledger/enqueue.ts';
import { decideLimit } from '../../src/ledger/limit.ts';
import type { Rule } from '../../src/ledger/decision.ts';
import { rerun, resumeRun } from '../../src/ledger/rerun.ts';
import type { Run } from '../../src/ledger/session.ts';
import { detach, waiveNotice } from '../../src/ledger/notice-actions.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { Action } from './scheduler.ts';
import { maybe, progress } from './scheduler.ts';
import type { Server } from './server.ts';
import type { World } from './world.ts';

const person = { kind: 'person', name: 'somebody' } as const;

/** What persons may do now, seeing what the server shows them. */
export function personActions(world: World, server: Server, state: MemorySnapshot): Action[] {
  const actions = [
    ...messages(world, server, state),
    ...stops(world, server, state),
    ...drops(world, server, state),
    ...newBeginnings(world, server, state),
  ];
  const whims = actions.map(({ budget, name, run, isTelling }) =>
    maybe(
      name,
      () => {
        world.budgets.spend(budget);
        run();
      },
      isTelling ? 30 : world.isCrowded ? 15 : 3,
    ),
  );
  return [
    ...whims.filter((_, index) => world.budgets.has(actions[index]?.budget ?? '')),
    ...repairs(world, server, state),
  ];
}

interface Whim {
  readonly budget: string;
  readonly name: string;
  readonly run: () => void;
  /** Done at this very moment, it shows most. */
  readonly isTelling?: boolean;
}

function messages(world: World, server: Server, state: MemorySnapshot): Whim[] {
  return state.sessions
    .filter((session) => session.hostedBy === null)
    .flatMap((session): Whim[] => [
      {
        budget: 'persons',
        name: `a person writes to ${session.title}`,
        run: () => {
          const label = world.label('p');
          world.truth.addMessage(label, session.id, null);
          const whenBusy = world.isCrowded ? 'steer' : world.choices.pick(['queue', 'steer'] as const);
          world.note(`  ${label}, ${whenBusy}`);
          const budget = world.isCosting ? { budget: { tokens: 20 } } : {};
          const id = world.ids.make('execution');
          const message = { id, sessionId: session.id, text: label, ...budget };
          const command = { now: world.clock.now(), whenBusy, message };
          server.run('enqueue', () => server.store.decide(() => enqueue(command)));
        },
      },
      {
        budget: 'persons',
        name: `a person launches a workflow for ${session.title}`,
        run: () => {
          const label = world.label('w');
          const common = {
            kind: 'work',
            label,
            cause: null,
            isRoot: true,
            activity: undefined,
            stage: 'calling',
          } as const;
          const work = world.truth.addWork({ ...common, tells: session.id });
          const caller = { by: 'person', reportsTo: session.id } as const;
          server.run('launch', async () => {
            const launched = await server.launcher.launch({ caller, kind: 'workflow', name: label });
            if (!launched.ok) work.stage = 'never';
          });
        },
      },
    ]);
}

function stops(world: World, server: Server, state: MemorySnapshot): Whim[] {
  const request = { actor: person };
  const open = state.executions.filter((row) => !row.closed && row.cancelRequested === null);
  const sharing = sharingRoots(state);
  const cancels = open
    .filter((row) => row.kind !== 'continuation' && row.kind !== 'late')
    .map(
      (row): Whim => ({
        budget: 'cancels',
        name: `a person cancels ${row.name}`,
        isTelling: sharing.has(row.id),
        run: () => {
          world.asked.cancels++;
          const command = { id: row.id, request, verdict: 'CANCELLED', join: true } as const;
          server.run('cancel', () => server.stopping.cancelTree(command));
        },
      }),
    );
  const sessions = state.sessions.flatMap((session): Whim[] => [
    {
      budget: 'interrupts',
      name: `a person interrupts ${session.title}`,
      run: () => {
        world.asked.interrupted.add(session.id);
        server.run('interrupt', () => server.sessions.of(session.id).interrupt());
      },
    },
    {
      budget: 'stops',
      name: `a person stops ${session.title}`,
      run: () => {
        world.asked.cancels++;
        world.asked.interrupted.add(session.id);
        world.asked.stopped.add(session.id);
        server.run('stop', () => server.stopping.stopSession(session.id, request));
      },
    },
  ]);
  const runs = state.runs.filter((run) => run.state === 'running' && run.ownerId === null);
  const cancelledRuns = runs.map(
    (run): Whim => ({
      budget: 'cancels',
      name: `a person cancels the run ${run.name}`,
      run: () => {
        world.asked.cancels++;
        server.run('cancelRun', () => server.stopping.cancelRun(run.id, request));
      },
      isTelling: run.retryAt !== null,
    }),
  );
  return [...cancels, ...sessions, ...cancelledRuns];
}

/** A run that has ended goes on, from one of its messages or from where it stopped; so does one that backs off. */
function newBeginnings(world: World, server: Server, state: MemorySnapshot): Whim[] {
  const begin = (run: Run, name: string, rule: () => Rule<unknown>): Whim => ({
    budget: 'reruns',
    name: `a person ${name} the run ${run.name}`,
    run: () => {
      world.asked.reruns++;
      server.run(name, () => server.store.decide(rule));
    },
    isTelling: true,
  });
  const now = world.clock.now();
  return (
    state.runs
      // Texts without templates would be the same again, and nobody could tell them apart.
      .filter((run) => run.ownerId === null && (world.isRetrying || run.sessionId === null))
      .filter((run) => run.state === 'ended' || run.retryAt !== null)
      .flatMap((run) => [
        begin(run, 'resumes', () => resumeRun({ now, id: run.id })),
        begin(run, 'reruns', () => rerun({ now, id: run.id, from: run.cursor % run.plan.length })),
        ...stepsOf(run).map((from, index) =>
          begin(run, `reruns ${from} of`, () => rerun({ now, id: run.id, from, only: index % 2 === 1 })),
        ),
      ])
  );
}

/** The steps of what a run sends, by name. */
function stepsOf({ plan }: Run): string[] {
  return plan.flatMap(({ workflow }) => workflow?.graph.steps ?? []).map(({ name }) => name);
}

/** Roots that have to share a turn with another root. */
function sharingRoots(state: MemorySnapshot): Set<Execution['id']> {
  const running = new Set(state.turns.filter((turn) => turn.state === 'running').map((turn) => turn.id));
  const roots = new Map<string, Set<Execution['id']>>();
  for (const { turnId, executionId } of state.owners) {
    const owner = running.has(turnId) ? state.executions.find((row) => row.id === executionId) : undefined;
    if (!owner || isSettled(owner.state)) continue;
    roots.set(turnId, (roots.get(turnId) ?? new Set()).add(owner.rootId));
  }
  return new Set([...roots.values()].filter((each) => each.size > 1).flatMap((each) => [...each]));
}

function drops(world: World, server: Server, state: MemorySnapshot): Whim[] {
  // What hangs must be ended by the deadline of a message; a person who takes it away from all messages must see to it.
  if (world.facts.isHung) return [];
  const now = world.clock.now();
  const waived = state.notices
    .filter((notice) => notice.state === 'owed' || notice.state === 'claimed')
    .map(
      (notice): Whim => ({
        budget: 'waives',
        name: `a person waives the result of ${nameOf(state, notice.executionId)}`,
        run: () => {
          const command = { now, id: notice.id, reason: 'dropped', actor: person };
          server.run('waive', () => server.store.decide(() => waiveNotice(command)));
        },
      }),
    );
  const detached = state.executions.filter(isDetachable).map(
    (row): Whim => ({
      budget: 'detaches',
      name: `a person detaches ${row.name}`,
      run: () => {
        server.run('detach', () => server.store.decide(() => detach({ now, id: row.id, actor: person })));
      },
    }),
  );
  return [...waived, ...detached];
}

function isDetachable(row: Execution): boolean {
  const isWork =
    row.kind === 'step' || row.kind === 'workflow' || row.kind === 'agent' || row.kind === 'task';
  return isWork && row.parentId !== null && !row.closed && row.detachedAt === null;
}

/** A limit whose end nobody knows is lifted by a person, sooner or later; now and then one gives up instead. */
function repairs(world: World, server: Server, state: MemorySnapshot): Action[] {
  return state.sessions
    .filter((session) => session.limit !== null && session.limit.until === null)
    .map((session) =>
      progress(`a person decides about the limit of ${session.title}`, () => {
        const action = world.choices.chance(20) ? 'giveUp' : 'resume';
        world.note(`  ${action}`);
        if (action === 'giveUp') world.asked.givenUp++;
        const fresh = new FreshIds(world.ids);
        const command = {
          now: world.clock.now(),
          sessionId: session.id,
          action,
          actor: person,
          fresh,
        } as const;
        server.run('decideLimit', () => server.store.decide(() => decideLimit(command)));
      }),
    );
}

function nameOf(state: MemorySnapshot, id: Execution['id']): string {
  return state.executions.find((row) => row.id === id)?.name ?? id;
}
