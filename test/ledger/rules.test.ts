import { afterEach, describe, expect, it } from 'vitest';
import type { Conversation } from '../../src/drivers/port.ts';
import type { RuleName } from '../../src/ledger/rules.ts';
import { rules } from '../../src/ledger/rules.ts';
import { resolveAfterOpen } from '../../src/turns/recovery.ts';
import { planOf, Scene } from './scene.ts';

/**
 * Every rule of docs/model.md twice: its trace ends right, and with the rule's switch off the same trace breaks in the way
 * for which the rule exists.
 */
afterEach(() => {
  for (const name of Object.keys(rules) as RuleName[]) rules[name] = true;
});

/** A ledger without a rule. Its invariants are broken on purpose, so they are not checked. */
function without(name: RuleName): Scene {
  rules[name] = false;
  return new Scene({ checks: false });
}

/** A message whose agent has ended its first turn with work in the background, which has ended too. */
async function resultOwed(scene: Scene) {
  const session = await scene.session();
  const { id: message, native } = await scene.running(session);
  const work = await scene.launch(session, native);
  await scene.ends(session, native);
  await scene.settle(work);
  return { session, message, work };
}

/** A result is written into the running turn of a message, and the turn ends without it. */
async function steeredAndNotTaken(scene: Scene) {
  const session = await scene.session();
  const { id: message, native } = await scene.running(session);
  const work = await scene.launch(session, native);
  await scene.settle(work);
  const steer = await scene.steer(session);
  await scene.ends(session, native, { endIsNegativeProof: false });
  return { session, message, work, steerId: steer!.id };
}

describe('R1: text that has left us comes back only on negative proof', () => {
  it('a steered text that was not seen taken stays claimed, and is named', async () => {
    const scene = new Scene();
    const { session, message, work } = await steeredAndNotTaken(scene);
    expect(scene.notice(work).state).toBe('claimed');
    expect(await scene.lane(session)).toBeUndefined();
    expect(scene.why(message)).toMatchObject([{ why: 'steer_unresolved' }]);
  });

  it('without it the result is sent again while the agent still holds the first text', async () => {
    const scene = without('withdraw');
    const { session, work, steerId } = await steeredAndNotTaken(scene);
    expect(scene.notice(work).state).toBe('owed');
    const native = await scene.runs(session);
    await scene.ends(session, native);
    // The first copy surfaces now: the job is done twice, and the second time nobody waits for it.
    expect(await scene.takes(session, 'by itself', steerId)).toBe('late');
    expect(scene.row(scene.row(work).rootId).closed).toBe(true);
  });
});

describe('R2: a text of ours that the agent takes up by itself is owned by what it carries', () => {
  it('the turn belongs to the continuation of that result, inside the tree', async () => {
    const scene = new Scene();
    const { session, message, work, steerId } = await steeredAndNotTaken(scene);
    await scene.begins(session, { deliveryId: steerId });
    expect(scene.notice(work).state).toBe('handed');
    expect(scene.continuationOf(work)).toMatchObject({ parentId: message, state: 'running' });
  });

  it('without it the agent works on the result outside what is known of it', async () => {
    const scene = without('adoptByText');
    const { session, message, work, steerId } = await steeredAndNotTaken(scene);
    await scene.begins(session, { deliveryId: steerId });
    expect(scene.notice(work).state).toBe('claimed');
    expect(scene.children(message).map((row) => row.kind)).toEqual(['workflow', 'late']);
  });
});

/** The first message has a result on its way by itself; the second message has taken the lane of the same session. */
async function callFromAnOldTurn(scene: Scene) {
  const { session, message } = await resultOwed(scene);
  const native = await scene.runs(session);
  await scene.ends(session, native);
  const next = await scene.running(session);
  const call = { by: 'session', sessionId: session, call: { state: 'unknown' } } as const;
  return { message, next, call: scene.launching(session, native, { caller: call }) };
}

describe('R3: a tool call is resolved only after the stream was read up to it', () => {
  it('a call of which no turn is proven starts nothing', async () => {
    const scene = new Scene();
    const { call } = await callFromAnOldTurn(scene);
    expect(await scene.refused(call)).toBe('TURN_NOT_PROVEN');
  });

  it('without it the call is counted on whichever message has the lane', async () => {
    const scene = without('barrier');
    const { next, call } = await callFromAnOldTurn(scene);
    await scene.do(call);
    expect(scene.children(next.id)).toHaveLength(1);
  });
});

/** A person's message is steered into the turn of another one, and the agent launches something. */
async function sharedTurn(scene: Scene) {
  const session = await scene.session();
  const first = await scene.running(session);
  const second = await scene.message(session, { whenBusy: 'steer' });
  const steer = await scene.steer(session);
  await scene.takes(session, first.native, steer!.id);
  const work = await scene.launch(session, first.native);
  return { session, first: first.id, second, native: first.native, work };
}

describe('R4: a launch in a shared turn is held by every other unsettled owner', () => {
  it('neither message is closed before the work of their common turn is', async () => {
    const scene = new Scene();
    const { session, first, second, native, work } = await sharedTurn(scene);
    await scene.ends(session, native);
    expect(scene.row(work).parentId).toBe(first);
    expect(scene.row(second)).toMatchObject({ state: 'succeeded', closed: false });
    expect(scene.why(second)).toMatchObject([{ why: 'shared_turn', executionId: work }]);
    await scene.settle(work);
    await scene.ends(session, await scene.runs(session));
    expect([scene.row(first).closed, scene.row(second).closed]).toEqual([true, true]);
  });

  it('without it the message that joined is told closed while its work runs', async () => {
    const scene = without('holders');
    const { session, second, native, work } = await sharedTurn(scene);
    await scene.ends(session, native);
    expect(scene.row(work).state).toBe('running');
    expect(scene.row(second).closed).toBe(true);
  });
});

/** The agent's background work ends while the agent is idle; its wake is on the way. */
async function backgroundWorkEnded(scene: Scene) {
  const session = await scene.session();
  const { id: message, native } = await scene.running(session);
  await scene.ends(session, native, { tasks: ['build'] });
  await scene.taskEnds(session, 'build');
  return { session, message };
}

describe('R5: a background task settles owing a notice', () => {
  it('the message stays open until the agent has handled the end for which it wakes', async () => {
    const scene = new Scene();
    const { session, message } = await backgroundWorkEnded(scene);
    expect(scene.row(message).closed).toBe(false);
    expect(await scene.lane(session)).toBeUndefined();
    const native = await scene.begins(session, { taskId: 'build' });
    expect(scene.continuationOf(scene.task(session, 'build').id).parentId).toBe(message);
    await scene.ends(session, native);
    expect(scene.row(message)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });

  it('without it the message is closed a moment before the agent wakes', async () => {
    const scene = without('taskNotice');
    const { session, message } = await backgroundWorkEnded(scene);
    expect(scene.row(message).closed).toBe(true);
    await scene.begins(session, { taskId: 'build' });
    expect([...scene.model.state.executions.values()].at(-1)).toMatchObject({ kind: 'late', parentId: null });
  });
});

describe('R6: the end of a turn carries the tasks that live as of that event', () => {
  it('what lives on is counted in the transaction that settles the turn', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const { id: message, native } = await scene.running(session);
    await scene.ends(session, native, { tasks: ['build'] });
    expect(scene.row(message)).toMatchObject({ state: 'succeeded', open: 1, closed: false });
  });

  it('without it the message is closed while its build runs', async () => {
    const scene = without('taskSnapshot');
    const session = await scene.session();
    const { id: message, native } = await scene.running(session);
    await scene.ends(session, native, { tasks: ['build'] });
    expect(scene.row(message).closed).toBe(true);
  });
});

/** What recovery finds of a text that was sent before a restart, and that the agent has in its queue. */
async function recovered(scene: Scene) {
  const sessionId = await scene.session();
  const message = await scene.message(sessionId);
  const turn = await scene.lane(sessionId);
  await scene.do({ rule: 'markWritten', command: { now: scene.now, turnId: turn!.id } });
  const conversation: Conversation = {
    nativeId: 'conversation',
    start: async () => ({ outcome: 'written' }),
    steer: async () => ({ outcome: 'refused', reason: 'no steers' }),
    withdraw: async () => 'unknown',
    interrupt: async () => 'idle',
    evidence: async () => ({ state: 'queued' }),
    locate: async () => ({ state: 'unknown' }),
    answer: async () => false,
    detach: async () => undefined,
    end: async () => 'dead',
  };
  const { store, clock, ids } = scene.model;
  const context = {
    store,
    clock,
    ids,
    node: 'local',
    agent: () => undefined,
    tools: () => undefined,
    prepare: async () => undefined,
    redact: (text: string) => text,
    directory: () => '/',
    transcript: { append: () => undefined },
    isWatched: () => false,
    isStopping: () => false,
    report: () => undefined,
  };
  const opened = { ok: true, how: 'adopted', conversation } as const;
  const replaying = { drainOld: async () => undefined, drain: async () => undefined, own: undefined };
  const found = await resolveAfterOpen(context, scene.sessionRow(sessionId), opened, replaying);
  return { message, turnId: turn!.id, pending: found.pending };
}

describe('R7: a sent text is looked for in record and queue before it is sent again', () => {
  it('a text in the queue of the agent is waited for', async () => {
    const { turnId, pending } = await recovered(new Scene());
    expect(pending).toBe(turnId);
  });

  it('without it a text that is not in the record may be sent a second time', async () => {
    const { pending } = await recovered(without('queueEvidence'));
    expect(pending).toBeUndefined();
  });
});

/** The agent is at work by itself when a message takes the lane; then it is idle, before it has seen the message. */
async function idleBeforeTheText(scene: Scene) {
  const session = await scene.session();
  const message = await scene.message(session);
  await scene.lane(session);
  await scene.ends(session, 'what it did before');
  return message;
}

describe('R8: an end is accepted only for a turn whose own start was seen', () => {
  it('an idle from before the text leaves the new turn alone', async () => {
    const scene = new Scene();
    expect(scene.row(await idleBeforeTheText(scene))).toMatchObject({ state: 'running', closed: false });
  });

  it('without it the message counts as done before the agent has seen it', async () => {
    const scene = without('startFence');
    expect(scene.row(await idleBeforeTheText(scene))).toMatchObject({ state: 'succeeded', closed: true });
  });
});

/** A text is refused by the agent. */
async function refusedSend(scene: Scene) {
  const session = await scene.session();
  const message = await scene.message(session);
  const turn = await scene.lane(session);
  await scene.sendFails(turn!.id);
  return { session, message, turn: turn! };
}

describe('R9: a send that the agent provably never got fails, and goes back', () => {
  it('the message is next in the queue again, under its own id', async () => {
    const scene = new Scene();
    const { session, message, turn } = await refusedSend(scene);
    expect(scene.row(message).state).toBe('queued');
    expect((await scene.lane(session))?.id).not.toBe(turn.id);
    expect(scene.row(message).state).toBe('running');
  });

  it('without it the turn is starting for ever', async () => {
    const scene = without('sendProof');
    const { session, message } = await refusedSend(scene);
    expect(await scene.lane(session)).toBeUndefined();
    expect(scene.why(message)).toMatchObject([{ why: 'starting' }]);
  });
});

/** The turn that was to handle a result fails. */
async function failedDelivery(scene: Scene) {
  const { session, message, work } = await resultOwed(scene);
  await scene.fails(session, await scene.runs(session));
  return { session, message, work };
}

describe('R10: a notice whose continuation failed is owed again', () => {
  it('the result is delivered again, and says so', async () => {
    const scene = new Scene();
    const { session, message, work } = await failedDelivery(scene);
    expect(scene.notice(work)).toMatchObject({ state: 'owed', attempt: 1, epoch: 1 });
    scene.wait(1_000);
    expect((await scene.lane(session))?.text).toContain('delivered again');
    expect(scene.row(message).closed).toBe(false);
  });

  it('without it the result is lost and the message is closed', async () => {
    const scene = without('handedBack');
    const { message, work } = await failedDelivery(scene);
    expect(scene.notice(work).state).toBe('handled');
    expect(scene.row(message).closed).toBe(true);
  });
});

/** A run whose first message has ended its turn; its work still runs when a person cancels the message. */
async function cancelledMessage(scene: Scene) {
  const session = await scene.session();
  const run = await scene.run(session, planOf(['one', 'two']));
  await scene.advance(run);
  const native = await scene.runs(session);
  const work = await scene.launch(session, native);
  await scene.ends(session, native);
  const message = scene.runRow(run).currentId!;
  await scene.cancel(message);
  return { session, run, message, work };
}

describe('R11: cancel is a latch on the tree', () => {
  it('the outcome is cancelled whatever the message said, nothing starts below it, and the run stops', async () => {
    const scene = new Scene();
    const { run, message, work } = await cancelledMessage(scene);
    const caller = { by: 'execution', executionId: work } as const;
    expect(await scene.refused(scene.launching(scene.row(message).runsIn!, '', { caller }))).toBe(
      'CANCELLED',
    );
    await scene.settle(work, 'cancelled');
    expect(scene.row(message)).toMatchObject({ state: 'succeeded', outcome: 'cancelled' });
    expect(await scene.advance(run)).toBe('ended');
  });

  it('without the latch the message counts as succeeded, and the next one is sent', async () => {
    const scene = without('cancelLatch');
    const { session, run, message, work } = await cancelledMessage(scene);
    await scene.program(work).then((below) => scene.settle(below));
    await scene.settle(work);
    await scene.ends(session, await scene.runs(session));
    expect(scene.row(message).outcome).toBe('succeeded');
    expect(await scene.advance(run)).toBe('sent');
  });

  it('what is owed in the tree is waived', async () => {
    const scene = new Scene();
    const { session, message, work } = await resultOwed(scene);
    await scene.cancel(message);
    expect(scene.notice(work)).toMatchObject({ state: 'waived', reason: 'cancelled' });
    expect(await scene.lane(session)).toBeUndefined();
  });

  it('without the waiver a cancelled tree gets a continuation', async () => {
    const scene = without('cancelWaives');
    const { session, message, work } = await resultOwed(scene);
    await scene.cancel(message);
    await scene.lane(session);
    expect(scene.continuationOf(work).parentId).toBe(message);
  });

  it('a turn that belongs to somebody else too is not interrupted: the tree steps down from it', async () => {
    const scene = new Scene();
    const { first, second } = await sharedTurn(scene);
    expect((await scene.cancel(second)).interrupt).toEqual([]);
    expect(scene.row(second).state).toBe('cancelled');
    expect(scene.row(first).state).toBe('running');
  });

  it('without stepping down the work of the other owner is interrupted', async () => {
    const scene = without('stepDown');
    const { session, second } = await sharedTurn(scene);
    expect((await scene.cancel(second)).interrupt).toMatchObject([{ sessionId: session }]);
  });
});

/** A call arrives when its turn was ended and nothing of its session is alive. */
async function callOfAnEndedTurn(scene: Scene) {
  const session = await scene.session();
  const { native } = await scene.running(session);
  await scene.ends(session, native);
  const caller = { by: 'session', sessionId: session, call: { state: 'ended' } } as const;
  return scene.launching(session, native, { caller });
}

describe('R12: a call of an ended turn is refused', () => {
  it('nothing is started', async () => {
    const scene = new Scene();
    expect(await scene.refused(await callOfAnEndedTurn(scene))).toBe('TURN_ENDED');
  });

  it('without it work runs for which nobody waits', async () => {
    const scene = without('refuseEnded');
    const { execution } = await scene.do<{ execution: object }>(await callOfAnEndedTurn(scene));
    expect(execution).toMatchObject({ parentId: null, parentSource: 'none' });
  });
});

/** Two callers have seen the same run. Between their calls the message that the first one sent has closed. */
async function advancedTwice(scene: Scene) {
  const session = await scene.session();
  const run = await scene.run(session, planOf(['one', 'two', 'three']));
  await scene.advance(run, 0);
  await scene.ends(session, await scene.runs(session));
  return { run, second: await scene.advance(run, 0) };
}

describe('R13: a run advances by compare-and-set', () => {
  it('who decides on what is not so any more decides nothing', async () => {
    const scene = new Scene();
    const { run, second } = await advancedTwice(scene);
    expect(second).toBe('stale');
    expect(scene.runRow(run).cursor).toBe(1);
  });

  it('without it a caller moves the run on from a state that it never saw', async () => {
    const scene = without('advanceOnce');
    const { run, second } = await advancedTwice(scene);
    expect(second).toBe('sent');
    expect(scene.runRow(run).cursor).toBe(2);
  });
});

/** Two callers look at a run whose message has failed. The first one begins the back-off. */
async function lookedAtBeforeBackOff(scene: Scene) {
  const session = await scene.session();
  const run = await scene.run(session, planOf(['one'], { retry: { max: 1, backoffMs: 60_000 } }));
  await scene.advance(run);
  await scene.fails(session, await scene.runs(session));
  const { moves } = scene.runRow(run);
  await scene.advance(run, moves);
  return scene.advance(run, moves);
}

describe('R15: a failed message is sent again when its back-off is over', () => {
  it('who looked before the back-off began does nothing', async () => {
    expect(await lookedAtBeforeBackOff(new Scene())).toBe('stale');
  });

  it('without it the message is sent again at once', async () => {
    expect(await lookedAtBeforeBackOff(without('backOffOnce'))).toBe('sent');
  });
});

/** A message uses more than it was given while its agent works in the background. */
async function usedTooMuch(scene: Scene) {
  const session = await scene.session();
  const { id, native } = await scene.running(session, { budget: { tokens: 10 } });
  const work = await scene.launch(session, native);
  await scene.ends(session, native, { usage: { inputTokens: 11 } });
  return {
    id,
    work,
    isDue: await scene.do<boolean>({ rule: 'nextDeadline', command: { now: scene.now, id } }),
  };
}

describe('R14: what has used more than it was given is ended', () => {
  it('its outcome is decided, and whoever looks is told to end it', async () => {
    const scene = new Scene();
    const { id, isDue } = await usedTooMuch(scene);
    expect(isDue).toBe(true);
    expect(scene.row(id).verdict).toBe('BUDGET');
  });

  it('without it the tree goes on at any price', async () => {
    const scene = without('budgetStop');
    const { id, work, isDue } = await usedTooMuch(scene);
    expect(isDue).toBe(false);
    await scene.settle(work);
    await scene.ends(scene.row(id).runsIn!, await scene.runs(scene.row(id).runsIn!));
    expect(scene.row(id)).toMatchObject({ closed: true, outcome: 'succeeded' });
  });
});
