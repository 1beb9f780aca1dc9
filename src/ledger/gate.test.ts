import { describe, expect, it } from 'vitest';
import { planOf, Scene } from '../../test/ledger/scene.ts';
import { existing } from '../../test/ledger/state.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { CheckToRun } from './check.ts';
import type { Execution } from './execution.ts';
import { selfReport } from './gate.ts';
import type { Gate } from './planned-message.ts';
import type { RowsOfRun } from './plan.ts';
import { newSession } from './session.ts';
import type { PlannedMessage, Run } from './session.ts';

const gate: Gate = { command: 'test -s out.md', outputs: null, repairs: 2, repairText: null };

/** A step with a session of its own and this plan. */
async function step(
  scene: Scene,
  plan: readonly PlannedMessage[],
  given: { readonly rows?: RowsOfRun; readonly cursor?: number } = {},
): Promise<{ id: ExecutionId; session: SessionId; run: Run }> {
  const asker = await scene.session();
  const { native } = await scene.running(asker);
  const runId = scene.model.ids.make('run');
  const about = { id: scene.model.ids.make('session'), project: 'default', agent: 'demo', cwd: '/work' };
  const session = newSession({ ...about, title: null, node: 'local', createdAt: scene.now });
  const hosts = { session, runId, plan, tells: 'cost', ...given } as const;
  const id = await scene.launch(asker, native, { kind: 'step', hosts });
  return { id, session: session.id, run: existing(scene.model.state.runs, runId) };
}

/** The agent works on what is due, and its check says what it says. Answers the message. */
async function checked(
  scene: Scene,
  session: SessionId,
  refusal: { readonly code: string; readonly message: string } | null,
): Promise<Execution> {
  const native = await scene.runs(session);
  const message = [...scene.model.state.executions.values()].findLast(
    (row) => row.kind === 'message' && row.runsIn === session,
  )!;
  await scene.ends(session, native);
  const command = { now: scene.now, messageId: message.id };
  const ready = await scene.do<CheckToRun>({ rule: 'startCheck', command });
  const ending = { state: refusal ? 'failed' : 'succeeded', error: refusal } as const;
  const noticeId = scene.model.ids.make('notice');
  await scene.do({ rule: 'settle', command: { now: scene.now, id: ready.check.id, noticeId, ending } });
  return scene.row(message.id);
}

const no = { code: 'CHECK_FAILED', message: 'test -s out.md: exit code 1' };

describe('the gate of a message', () => {
  it('sends what was wrong back at once, as another attempt of the same message in the same session', async () => {
    const scene = new Scene();
    const { session, run } = await step(scene, planOf(['write', 'next'], { gate }));
    await scene.advance(run);
    await checked(scene, session, no);
    expect(await scene.advance(run)).toBe('sent');
    expect(scene.runRow(run)).toMatchObject({ cursor: 1, tries: 2, repairs: 1, retryAt: null });
    const { text } = (await scene.lane(session))!;
    expect(text).toMatch(/^\[stemma repair 1 of 2\] /);
    expect(text).toContain('What is wrong:\ntest -s out.md: exit code 1');
    expect(scene.row(scene.runRow(run).currentId!)).toMatchObject({
      runIndex: 0,
      attempt: 2,
      runsIn: session,
    });
  });

  describe('that says something with templates', () => {
    const saying = { ...gate, repairText: 'Mend {{row.title}}.' };
    async function refused(scene: Scene): Promise<{ session: SessionId; run: Run }> {
      const { session, run } = await step(scene, planOf(['write'], { gate: saying, templates: true }));
      await scene.advance(run);
      await checked(scene, session, no);
      expect(await scene.advance(run)).toBe('needsRepairText');
      return { session, run };
    }

    it('asks for it filled in, and reads no template in that', async () => {
      const scene = new Scene();
      const { session, run } = await refused(scene);
      const said = { ok: true, text: 'Mend {{this}}.' } as const;
      expect(await scene.advance(run, undefined, { repairText: said })).toBe('sent');
      expect((await scene.lane(session))!.text).toMatch(/^\[stemma repair 1 of 2\] Mend \{\{this\}\}\.\n/);
    });

    it('fails where that cannot be had', async () => {
      const scene = new Scene();
      const { run } = await refused(scene);
      const gone = { ok: false, message: 'no such column' } as const;
      await scene.advance(run, undefined, { repairText: gone });
      const error = { code: 'TEMPLATE_FAILED', message: 'no such column' };
      expect(scene.row(scene.runRow(run).currentId!)).toMatchObject({ state: 'failed', error });
      expect(await scene.advance(run)).toBe('ended');
    });
  });

  it('lets the next message be sent when a repair has mended it', async () => {
    const scene = new Scene();
    const { session, run } = await step(scene, planOf(['write', 'next'], { gate }));
    await scene.advance(run);
    await checked(scene, session, no);
    await scene.advance(run);
    await checked(scene, session, null);
    expect(await scene.advance(run)).toBe('sent');
    expect(scene.runRow(run)).toMatchObject({ cursor: 2, tries: 1, repairs: 0 });
  });

  it('fails the message with its code when the repairs are spent', async () => {
    const scene = new Scene();
    const { id, session, run } = await step(scene, planOf(['write', 'next'], { gate }));
    await scene.advance(run);
    const invalid = { code: 'OUTPUT_INVALID', message: 'report: no file' };
    for (let i = 0; i < 3; i++) {
      await checked(scene, session, invalid);
      expect(await scene.advance(run)).toBe(i < 2 ? 'sent' : 'ended');
    }
    expect(scene.runRow(run)).toMatchObject({ outcome: 'failed', outcomeCode: 'OUTPUT_INVALID', cursor: 1 });
    expect(scene.row(id).state).toBe('failed');
  });

  it('does not spend the tries that a failure of another kind has', async () => {
    const scene = new Scene();
    const plan = planOf(['write'], { gate: { ...gate, repairs: 1 }, retry: { max: 1, backoffMs: 0 } });
    const { session, run } = await step(scene, plan);
    await scene.advance(run);
    await checked(scene, session, no);
    expect(await scene.advance(run)).toBe('sent');
    await scene.fails(session, await scene.runs(session));
    expect(await scene.advance(run)).toBe('backsOff');
    expect(await scene.advance(run)).toBe('sent');
    expect(scene.runRow(run)).toMatchObject({ tries: 3, repairs: 1 });
    await scene.fails(session, await scene.runs(session));
    expect(await scene.advance(run)).toBe('ended');
  });

  it('sends nothing after a cancel', async () => {
    const scene = new Scene();
    const { id, session, run } = await step(scene, planOf(['write', 'next'], { gate }));
    await scene.advance(run);
    await checked(scene, session, no);
    await scene.cancel(id);
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'cancelled', cursor: 1, tries: 1 });
  });
});

describe('a run with rows', () => {
  const rows = { count: 2, rows: [{ title: 'a' }, { title: 'b' }] };

  it('goes through its plan for every row, one message after the other', async () => {
    const scene = new Scene();
    const { session, run } = await step(scene, planOf(['write', 'look']), { rows });
    for (let place = 0; place < 4; place++) {
      expect(await scene.advance(run)).toBe('sent');
      expect(await scene.advance(run)).toBe('notYet');
      const { currentId, cursor } = scene.runRow(run);
      expect([scene.row(currentId!).name, scene.row(currentId!).runIndex]).toEqual([
        place % 2 === 0 ? 'write' : 'look',
        place,
      ]);
      expect(cursor).toBe(place + 1);
      await scene.ends(session, await scene.runs(session));
    }
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'succeeded', rowCount: 2 });
  });

  it('without a row has nothing to do, and succeeds', async () => {
    const scene = new Scene();
    const { id, run } = await step(scene, planOf(['write']), { rows: { count: 0, rows: [] } });
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.row(id).state).toBe('succeeded');
  });

  it('begins where it is told to, with the rows of an earlier run', async () => {
    const scene = new Scene();
    const before = await step(scene, planOf(['write', 'look']), { rows });
    const after = await step(scene, planOf(['write', 'look']), {
      rows: { count: 2, from: before.run.id },
      cursor: 3,
    });
    expect(await scene.advance(after.run)).toBe('sent');
    expect(scene.row(scene.runRow(after.run).currentId!)).toMatchObject({ runIndex: 3, name: 'look' });
    await scene.ends(after.session, await scene.runs(after.session));
    expect(await scene.advance(after.run)).toBe('ended');
  });
});

describe('an agent that says of itself that it failed', () => {
  it('is believed in the program of a step: the next message is not sent', async () => {
    const scene = new Scene();
    const { id, session, run } = await step(scene, planOf(['one', 'two'], { gate }));
    await scene.advance(run);
    const answer = 'I looked.\n[stemma failed] there is no such table\n';
    await scene.ends(session, await scene.runs(session), { answer });
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'failed', outcomeCode: 'SELF_REPORTED', cursor: 1 });
    const error = { code: 'SELF_REPORTED', message: 'there is no such table' };
    expect(scene.row(id)).toMatchObject({ state: 'failed', error });
  });

  it('is believed when it handles results too', async () => {
    const scene = new Scene();
    const { session, run } = await step(scene, planOf(['one', 'two']));
    await scene.advance(run);
    const native = await scene.runs(session);
    const child = await scene.launch(session, native);
    await scene.ends(session, native);
    await scene.settle(child);
    await scene.ends(session, await scene.runs(session), { answer: '[stemma failed] the child is no use' });
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run)).toMatchObject({ outcome: 'failed', outcomeCode: 'SELF_REPORTED' });
  });

  it('is not asked elsewhere: a person is told what it says', async () => {
    const scene = new Scene();
    const session = await scene.session();
    const run = await scene.run(session, planOf(['one']));
    await scene.advance(run);
    await scene.ends(session, await scene.runs(session), { answer: '[stemma failed] no' });
    expect(await scene.advance(run)).toBe('ended');
    expect(scene.runRow(run).outcome).toBe('succeeded');
  });

  it.each([
    ['all is well', undefined],
    ['[stemma failed] no\nbut then it went well', undefined],
    ['[stemma failed]', 'The agent said that it failed, and not why.'],
    ['text\n  [stemma failed]  out of paper  \n\n', 'out of paper'],
  ])('says so with the last line: %j', (answer, said) => {
    expect(selfReport(answer)?.message).toBe(said);
  });
});
