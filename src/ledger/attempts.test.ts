import { describe, expect, it } from 'vitest';
import type { SessionId } from '../base/ids.ts';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import { retryDelayMs } from './attempts.ts';
import type { PlannedMessage, Run } from './session.ts';

const minuteMs = 60_000;
const retry = { max: 2, backoffMs: minuteMs };

/** A run whose first message was sent and failed. */
async function failedOnce(
  scene: Scene,
  given: Partial<PlannedMessage> = { retry },
): Promise<{ session: SessionId; run: Run }> {
  const session = await scene.session();
  const run = await scene.run(session, planOf(['one', 'two'], given));
  await scene.advance(run);
  await scene.fails(session, await scene.runs(session));
  return { session, run };
}

/** What the run stands at. */
function current(scene: Scene, run: Run) {
  return scene.row(scene.runRow(run).currentId!);
}

describe('a message that may be tried again', () => {
  it('is a new root with the next attempt, sent when the back-off is over and not before', async () => {
    const scene = new Scene();
    const { run } = await failedOnce(scene);
    const first = current(scene, run);
    const failedAt = scene.now;
    expect(await scene.advance(run)).toBe('backsOff');
    expect(scene.runRow(run).retryAt).toBe(failedAt + minuteMs);
    scene.wait(minuteMs - 10);
    expect(await scene.advance(run)).toBe('notYet');
    scene.wait(10);
    expect(await scene.advance(run)).toBe('sent');
    expect(current(scene, run)).toMatchObject({ runIndex: 0, attempt: 2, parentId: null, state: 'queued' });
    expect(scene.row(first.id)).toMatchObject({ outcome: 'failed', closed: true });
  });

  it('waits no longer than its back-off when the clock is set back by a day', async () => {
    const scene = new Scene();
    const { run } = await failedOnce(scene);
    await scene.advance(run);
    scene.wait(minuteMs / 2);
    scene.model.clock.jump(-24 * 60 * minuteMs);
    expect(await scene.advance(run)).toBe('backsOff');
    const latest = scene.now + minuteMs;
    expect(scene.runRow(run).retryAt).toBeLessThanOrEqual(latest);
    expect(scene.model.state.wakes.get(`run:${run.id}`)?.at).toBeLessThanOrEqual(latest);
    scene.wait(minuteMs);
    expect(await scene.advance(run)).toBe('sent');
  });

  it('waits twice as long each time, and an hour at most', () => {
    expect([1, 2, 3, 7, 60].map((tries) => retryDelayMs(minuteMs, tries) / minuteMs)).toEqual([
      1, 2, 4, 60, 60,
    ]);
  });

  it('is sent again only when everything below it is closed', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one'], { retry }));
    await scene.advance(run);
    const native = await scene.runs(session);
    const child = await scene.launch(session, native);
    await scene.fails(session, native);
    expect(await scene.advance(run)).toBe('notYet');
    await scene.settle(child);
    await scene.ends(session, await scene.runs(session));
    expect(await scene.advance(run)).toBe('backsOff');
  });

  it.each([
    ['stop', 'ended'],
    ['continue', 'sent'],
  ] as const)('after its last attempt the plan decides: %s', async (onFailure, then) => {
    const scene = new Scene();
    const { session, run } = await failedOnce(scene, { retry: { max: 1, backoffMs: 0 }, onFailure });
    expect(await scene.advance(run)).toBe('backsOff');
    expect(await scene.advance(run)).toBe('sent');
    await scene.fails(session, await scene.runs(session));
    expect(await scene.advance(run)).toBe(then);
    expect(scene.runRow(run).cursor).toBe(onFailure === 'stop' ? 1 : 2);
  });

  it('that succeeds in a later attempt lets the next be sent', async () => {
    const scene = new Scene();
    const { session, run } = await failedOnce(scene, { retry: { max: 3, backoffMs: 0 } });
    await scene.advance(run);
    await scene.advance(run);
    await scene.ends(session, await scene.runs(session));
    expect(await scene.advance(run)).toBe('sent');
    expect(current(scene, run)).toMatchObject({ runIndex: 1, attempt: 1 });
    expect(scene.runRow(run).tries).toBe(1);
  });

  it('is not, when the run is cancelled during its back-off', async () => {
    const scene = new Scene();
    const { run } = await failedOnce(scene);
    await scene.advance(run);
    await scene.cancelRun(run.id);
    expect(scene.model.state.wakes.get(`run:${run.id}`)?.at).toBeLessThanOrEqual(scene.now);
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'cancelled', retryAt: null });
  });

  it('is not, when the session is stopped during its back-off', async () => {
    const scene = new Scene();
    const { session, run } = await failedOnce(scene);
    await scene.advance(run);
    await scene.stop(session);
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run).outcome).toBe('cancelled');
  });

  it('is not, after it was cancelled', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one'], { retry }));
    await scene.advance(run);
    await scene.cancel(scene.runRow(run).currentId!);
    expect(await scene.advance(run)).toBe('ended');
  });

  it('is not, after it used more than it was given', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one'], { retry, budget: { tokens: 5 } }));
    await scene.advance(run);
    await scene.ends(session, await scene.runs(session), { usage: { outputTokens: 6 } });
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run).outcomeCode).toBe('BUDGET');
  });
});

describe('the budget of a run', () => {
  it('gives each message the smaller of its own and what is left, earlier attempts counted', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const plan = planOf(['one', 'two'], { retry: { max: 1, backoffMs: 0 }, budget: { tokens: 80, usd: 9 } });
    const run = await scene.run(session, plan, { budget: { tokens: 100 } });
    await scene.advance(run);
    expect(current(scene, run).budget).toEqual({ tokens: 80, usd: 9 });
    const failure = { status: 'failed', error: { code: 'AGENT_FAILED', message: 'no' } } as const;
    await scene.ends(session, await scene.runs(session), { ...failure, usage: { inputTokens: 40 } });
    await scene.advance(run);
    await scene.advance(run);
    expect(current(scene, run).budget).toEqual({ tokens: 60, usd: 9 });
    await scene.ends(session, await scene.runs(session), { usage: { inputTokens: 59 } });
    await scene.advance(run);
    expect(current(scene, run).budget).toEqual({ tokens: 1, usd: 9 });
  });

  it('that is used up ends the run as failed', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one', 'two']), { budget: { usd: 0.3 } });
    await scene.advance(run);
    await scene.ends(session, await scene.runs(session), { usage: { usd: 0.3 } });
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'failed', outcomeCode: 'BUDGET', cursor: 1 });
  });
});

describe('a message with templates', () => {
  const templates = { templates: true } as const;

  it('is sent with the text that was filled in for it', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['on {{date}}'], templates));
    expect(await scene.advance(run)).toBe('needsText');
    expect(scene.runRow(run)).toEqual(run);
    expect(await scene.advance(run, 0, { text: { ok: true, text: 'on 2026-01-01' } })).toBe('sent');
    expect((await scene.lane(session))?.text).toBe('on 2026-01-01');
  });

  it('is not sent with a text that was filled in for another', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['{{date}}', 'two'], templates));
    await scene.advance(run, 0, { text: { ok: true, text: 'first' } });
    await scene.ends(session, await scene.runs(session));
    expect(await scene.advance(run, 0, { text: { ok: true, text: 'first again' } })).toBe('stale');
  });

  it('that cannot be filled in fails without being sent, and the plan decides', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const plan = planOf(['{{file:gone}}'], { ...templates, retry: { max: 1, backoffMs: 0 } });
    const run = await scene.run(session, plan);
    await scene.advance(run, 0, { text: { ok: false, message: 'no file gone' } });
    const error = { code: 'TEMPLATE_FAILED', message: 'no file gone' };
    expect(current(scene, run)).toMatchObject({ state: 'failed', closed: true, outcome: 'failed', error });
    expect(await scene.lane(session)).toBeUndefined();
    expect(await scene.advance(run)).toBe('backsOff');
    expect(await scene.advance(run, scene.runRow(run).moves, { text: { ok: true, text: 'there' } })).toBe(
      'sent',
    );
  });

  it('of a plan without templates goes out as it is', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['on {{date}}']));
    await scene.advance(run);
    expect((await scene.lane(session))?.text).toBe('on {{date}}');
  });
});
