import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import { ask } from '../../ledger/questions.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import {
  deciding,
  dispatch,
  execution,
  id,
  input,
  notice,
  notification,
  opening,
  registering,
  run,
  schedule,
  session,
  settling,
  start,
  steer,
  turn,
} from './rows.ts';

const odd = 'a\u0000b\u0010c\u00100d é 漢 🦊 "quoted" \\u0010 \n';

describe.each(adapters)('effects on $name', ({ open }) => {
  let opened: Opened;
  const apply = async (...effects: Effect[]): Promise<void> => {
    await opened.store.decide(deciding(effects));
  };
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
  });
  afterEach(() => opened.end());

  it('keeps an execution with every field set, oddities of text included', async () => {
    const row = execution(1, null, {
      kind: 'message',
      name: odd,
      key: 'key',
      attempt: 3,
      project: 'shop',
      runsIn: id.session(1),
      reportsTo: id.session(1),
      mode: 'each',
      cancelledBy: id.session(1),
      runId: id.run(1),
      runIndex: 1,
      correlationId: odd,
      join: 'all',
      check: 'npm test',
      background: 'detach',
      timeoutMs: 5,
      budget: { usd: 0.5, tokens: 1_000_000 },
      wakeOnClose: `run:${id.run(1)}`,
      waiting: { for: 'input', since: start, until: start + 1, text: odd, choices: ['a', 'b\u0000'] },
      open: 2,
      drain: 1,
      verdict: 'TIMED_OUT',
      failures: 2,
      cancelRequested: { actor: { kind: 'person', name: odd }, at: start, reason: 'because' },
      detachedAt: start,
      deadlineAt: start + 9,
      startedAt: start + 1,
      usage: { inputTokens: 1, usd: 0.25 },
      spent: { inputTokens: 3, outputTokens: 0, usd: 0.1 },
      nativeId: 'native',
    });
    await apply(
      { do: 'insertSession', row: session(1) },
      { do: 'insertRun', row: run(1, id.session(1)) },
      { do: 'insertExecution', row },
    );
    expect((await opened.dump()).executions).toEqual([row]);
  });

  it('patches an execution, and leaves alone what is not named', async () => {
    await apply({
      do: 'insertExecution',
      row: execution(1, null, { open: 1, state: 'queued', startedAt: null }),
    });
    const set = {
      state: 'running',
      startedAt: start + 5,
      waiting: { for: 'lane', since: start },
      nativeId: odd,
      deadlineAt: start + 10,
    } as const;
    await apply({ do: 'patchExecution', id: id.execution(1), set });
    await apply({ do: 'patchExecution', id: id.execution(1), set: { waiting: null, drain: 0 } });
    expect((await opened.dump()).executions).toEqual([
      { ...execution(1), open: 1, ...set, waiting: null, drain: 0 },
    ]);
  });

  it('adds to deficits and failures by relative amounts', async () => {
    await apply({ do: 'insertExecution', row: execution(1) });
    await apply(opening(id.execution(1), 3), opening(id.execution(1), -1));
    await apply(
      { do: 'failures', id: id.execution(1), by: 2 },
      { do: 'failures', id: id.execution(1), by: -1 },
    );
    await apply(opening(id.execution(1), 0));
    expect((await opened.dump()).executions).toMatchObject([{ open: 2, failures: 1, closed: false }]);
  });

  it('adds to what is spent, also of what is closed, and sums decimals without a rest', async () => {
    await apply({ do: 'insertExecution', row: execution(1) });
    const spend = (by: Extract<Effect, { do: 'spend' }>['by']): Effect => ({
      do: 'spend',
      id: id.execution(1),
      by,
    });
    await apply(spend({ inputTokens: 10, usd: 0.1 }), spend({ usd: 0.2 }));
    await apply(settling(1));
    await apply(spend({ outputTokens: 4 }));
    const spent = { inputTokens: 10, outputTokens: 4, usd: 0.3 };
    expect((await opened.dump()).executions).toMatchObject([{ closed: true, spent, usage: null }]);
    await expect(apply({ do: 'spend', id: id.execution(2), by: { usd: 1 } })).rejects.toThrow(
      id.execution(2),
    );
  });

  it('keeps sessions, turns and their owners', async () => {
    const row = execution(1);
    const begun = turn(1, id.session(1), { text: odd });
    await apply(
      { do: 'insertExecution', row },
      // A host and its session name each other: whichever comes first, the other follows in the same decision.
      {
        do: 'insertSession',
        row: session(1, { title: odd, hostedBy: id.execution(2), laneTurn: id.turn(1) }),
      },
      { do: 'insertExecution', row: execution(2, row, { kind: 'agent', runsIn: id.session(1) }) },
      opening(row.id, 1),
      { do: 'insertTurn', row: begun },
      { do: 'insertOwner', row: { turnId: begun.id, executionId: row.id, position: 0 } },
    );
    const ended = {
      state: 'ended',
      status: 'succeeded',
      endedAt: start + 1,
      nativeTurnId: 'n',
      position: 7,
      usage: { inputTokens: 5 },
    } as const;
    await apply(
      { do: 'patchTurn', id: begun.id, set: ended },
      { do: 'patchSession', id: id.session(1), set: { laneTurn: null, lastTurn: begun.id, position: 7 } },
    );
    const dump = await opened.dump();
    expect(dump.turns).toEqual([{ ...begun, ...ended }]);
    expect(dump.sessions).toEqual([
      session(1, { title: odd, hostedBy: id.execution(2), lastTurn: begun.id, position: 7 }),
    ]);
    expect(dump.owners).toEqual([{ turnId: begun.id, executionId: row.id, position: 0 }]);
  });

  it('keeps inputs, steers and notices, and deletes an input', async () => {
    const row = execution(1, null, { kind: 'message', runsIn: id.session(1) });
    await apply(
      { do: 'insertSession', row: session(1) },
      ...registering(row),
      ...registering(execution(2, row)),
      { do: 'insertInput', row: input(row, id.session(1), 4, { text: odd }) },
      { do: 'insertTurn', row: turn(1, id.session(1)) },
      { do: 'insertNotice', row: notice(1, execution(2, row), id.session(1)) },
      opening(row.id, 1),
    );
    // A claim names its steer, and may come before it within one decision.
    const claimed = { state: 'claimed', steerId: id.steer(1), epoch: 1 } as const;
    await apply(
      { do: 'patchNotice', id: id.notice(1), set: claimed },
      { do: 'patchInput', id: row.id, set: { steerId: id.steer(1), wantsSteer: true, position: -2 } },
      { do: 'insertSteer', row: steer(1, id.session(1), id.turn(1), { text: odd, messageId: row.id }) },
    );
    await apply({ do: 'patchSteer', id: id.steer(1), set: { state: 'refused', endedAt: start + 1 } });
    const dump = await opened.dump();
    expect(dump.notices).toEqual([{ ...notice(1, execution(2, row), id.session(1)), ...claimed }]);
    expect(dump.inputs).toEqual([
      input(row, id.session(1), -2, { text: odd, steerId: id.steer(1), wantsSteer: true }),
    ]);
    expect(dump.steers).toMatchObject([
      { state: 'refused', endedAt: start + 1, text: odd, messageId: row.id },
    ]);
    await apply({ do: 'deleteInput', id: row.id });
    expect((await opened.dump()).inputs).toEqual([]);
    expect(await opened.store.read(() => ask('input', row.id))).toBeUndefined();
  });

  it('keeps a waiver with its actor', async () => {
    const row = execution(1);
    await apply(
      { do: 'insertSession', row: session(1) },
      ...registering(row),
      { do: 'insertNotice', row: notice(1, row, id.session(1)) },
      opening(row.id, 1),
    );
    const set = { state: 'waived', reason: 'not needed', actor: { kind: 'person', name: 'ann' } } as const;
    await apply({ do: 'patchNotice', id: id.notice(1), set }, opening(row.id, -1));
    expect((await opened.dump()).notices).toMatchObject([set]);
  });

  it('keeps runs with their plan', async () => {
    await apply({ do: 'insertSession', row: session(1) }, { do: 'insertRun', row: run(1, id.session(1)) });
    const set = {
      state: 'ended',
      outcome: 'failed',
      outcomeCode: 'LOST',
      endedAt: start,
      cancelRequested: true,
      budget: { usd: 0.5 },
      cursor: 2,
      tries: 3,
      moves: 4,
    } as const;
    await apply({ do: 'patchRun', id: id.run(1), set });
    expect((await opened.dump()).runs).toEqual([{ ...run(1, id.session(1)), ...set }]);
  });

  it('keeps what people are told, and how far it is on its way', async () => {
    const row = execution(1);
    const full = notification(1, {
      project: odd,
      name: odd,
      code: 'LOST',
      text: odd,
      rootId: row.id,
      sessionId: id.session(1),
      runId: id.run(1),
      scheduleId: id.schedule(1),
      to: ['ops'],
    });
    await apply(
      { do: 'insertSession', row: session(1) },
      { do: 'insertRun', row: run(1, id.session(1)) },
      { do: 'insertSchedule', row: schedule(1) },
      ...registering(row),
      { do: 'insertNotification', row: full },
      { do: 'insertDispatch', row: dispatch(full, 'ops') },
    );
    const sending = {
      state: 'sending',
      leadId: `ops:${full.id}`,
      attempt: 2,
      notBefore: start + 9,
      error: { code: 'REFUSED', message: odd },
    } as const;
    await apply(
      { do: 'patchNotification', id: full.id, set: { state: 'addressed' } },
      { do: 'patchDispatch', id: `ops:${full.id}`, set: sending },
    );
    const dump = await opened.dump();
    expect(dump.notifications).toEqual([{ ...full, state: 'addressed' }]);
    expect(dump.dispatches).toEqual([{ ...dispatch(full, 'ops'), ...sending }]);
  });

  it('keeps holds, and counts them once each', async () => {
    const [a, b] = [execution(1), execution(2)];
    await apply(...registering(a), ...registering(b), ...registering(execution(3, a), [b.id]));
    const dump = await opened.dump();
    expect(dump.holds).toEqual([{ executionId: id.execution(3), holderId: b.id }]);
    expect(dump.executions.map((row) => row.open)).toEqual([1, 1, 0]);
  });

  it('numbers events without a gap, over decisions and within one', async () => {
    const event = (type: string): Effect => ({
      do: 'event',
      event: {
        type,
        at: start,
        rootId: id.execution(1),
        sessionId: null,
        data: { text: odd, nothing: null },
      },
    });
    await apply(event('one'));
    await apply(...Array.from({ length: 40 }, (_, i) => event(`many ${i}`)));
    const { events } = await opened.dump();
    expect(events.map((row) => row.sequence)).toEqual(Array.from({ length: 41 }, (_, i) => i + 1));
    expect(events[40]).toMatchObject({
      type: 'many 39',
      rootId: id.execution(1),
      data: { text: odd, nothing: null },
    });
  });

  it('merges wake-ups of one target: the earliest instant and a new revision', async () => {
    const wake = (at: number): Effect => ({
      do: 'wake',
      wake: { kind: 'session', target: id.session(1), at },
    });
    await apply(wake(500), wake(300), { do: 'wake', wake: { kind: 'run', target: 'r', at: 7 } });
    await apply(wake(400));
    await apply(wake(100));
    expect((await opened.dump()).wakeups).toEqual([
      { kind: 'run', target: 'r', at: 7, revision: 1 },
      { kind: 'session', target: id.session(1), at: 100, revision: 3 },
    ]);
  });
});
