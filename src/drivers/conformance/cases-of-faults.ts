import type { ConformanceCase } from './cases-of-turns.ts';
import type { Behaviour } from './prompts.ts';
import { CaseSkipped, check } from './report.ts';
import type { Rig } from './rig.ts';

/** Cases about restarts of ours, and about agents that do what no agent should. */
export const casesOfFaults: readonly ConformanceCase[] = [
  {
    name: 'adopt',
    title: 'a turn goes on without us, and its end is told to who takes over',
    needs: ['slow', 'simple'],
    run: adopt,
  },
  {
    name: 'resumeAfterKill',
    title: 'a conversation is had again after its process was killed in a turn',
    needs: ['slow', 'simple'],
    run: resumeAfterKill,
  },
  {
    name: 'lateActivity',
    title: 'what an agent does after its end is a turn of its own',
    needs: ['late', 'simple'],
    run: lateActivity,
  },
  { name: 'twoEnds', title: 'a second end is noise', needs: ['twoEnds', 'simple'], run: twoEnds },
  {
    name: 'silentTurn',
    title: 'an end without a sign of work still has a start before it',
    needs: ['silent', 'simple'],
    run: silentTurn,
  },
  {
    name: 'endBeforeStart',
    title: 'an end of a turn that nobody started ends nothing',
    needs: ['endBeforeStart'],
    run: endBeforeStart,
  },
  { name: 'garbage', title: 'garbage on the wire is noise', needs: ['garbage'], run: garbage },
  { name: 'bigLine', title: 'a line of a megabyte is a line', needs: ['bigLine', 'simple'], run: bigLine },
  {
    name: 'diesSilently',
    title: 'a process that dies before any sign of work',
    needs: ['diesSilently'],
    run: (rig) => death(rig, 'diesSilently'),
  },
  {
    name: 'diesInTurn',
    title: 'a process that dies in its turn',
    needs: ['diesInTurn'],
    run: (rig) => death(rig, 'diesInTurn'),
  },
  {
    name: 'diesAfterTurn',
    title: 'a process that dies after its turn',
    needs: ['diesAfterTurn'],
    run: (rig) => death(rig, 'diesAfterTurn'),
  },
  { name: 'hangs', title: 'a process that never answers', needs: ['hangs'], run: hangs },
  {
    name: 'ignoresCancel',
    title: 'an interrupt that is ignored',
    needs: ['ignoresCancel'],
    run: ignoresCancel,
  },
  {
    name: 'stopsReading',
    title: 'a process that reads nothing any more',
    needs: ['stopsReading'],
    run: stopsReading,
  },
  {
    name: 'diesAtStart',
    title: 'a process that dies while it opens',
    needs: [],
    run: (rig) => badStart(rig, 'diesAtStart'),
  },
  {
    name: 'hangsAtStart',
    title: 'a process that hangs while it opens',
    needs: [],
    run: (rig) => badStart(rig, 'hangsAtStart'),
  },
  {
    name: 'garbageAtStart',
    title: 'a process that is no such agent',
    needs: [],
    run: (rig) => badStart(rig, 'garbageAtStart'),
  },
];

async function adopt(rig: Rig): Promise<void> {
  const first = await rig.open();
  const id = await rig.begin(first, 'slow');
  const turn = await rig.started(id);
  await rig.detach(first);
  await rig.pass(300);
  const opened = await rig.tryOpen();
  check(opened.ok, `open failed: ${opened.ok ? '' : opened.message}`);
  check(opened.how === 'adopted', `the process lives, and open ${opened.how} another`);
  const { conversation } = opened;
  const evidence = await rig.call('evidence', () => conversation.evidence(id));
  check(evidence.state === 'consumed', `the text of a running turn is ${evidence.state}`);
  if (rig.ends().length === 0) await rig.call('interrupt', () => conversation.interrupt());
  const end = await rig.ended(id);
  check(end.nativeTurnId === turn, 'the turn changed its id');
  await rig.useIt(conversation);
}

async function resumeAfterKill(rig: Rig): Promise<void> {
  const first = await rig.open();
  const id = await rig.begin(first, 'slow');
  await rig.started(id);
  await rig.end(first);
  // It was asked for, so it need not be told; a driver whose process serves others has nothing to tell.
  check(rig.count('exited') <= 1, `${rig.count('exited')} exits were told`);
  check(
    rig.ends().every((end) => end.status !== 'succeeded'),
    'a killed turn succeeded',
  );
  const opened = await rig.tryOpen();
  const { resume } = rig.driver.capabilities;
  if (!opened.ok) {
    check(opened.code === 'SESSION_GONE', `the conversation cannot be had again, as ${opened.code}`);
    check(resume !== 'always', 'the driver declares that it can always resume');
    throw new CaseSkipped(`this agent cannot: ${opened.message}`);
  }
  check(resume !== 'never', 'the driver declares that it never resumes');
  check(opened.how === 'resumed', `a conversation whose process is dead was ${opened.how}`);
  const evidence = await rig.call('evidence', () => opened.conversation.evidence(id));
  check(evidence.state !== 'queued', 'a dead process has nothing queued');
  await rig.useIt(opened.conversation);
}

async function lateActivity(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'late');
  const { nativeTurnId: turn } = await rig.ended(id);
  const isLate = (at: string): boolean => at !== turn;
  await rig.until(() => rig.ends().some((end) => isLate(end.nativeTurnId)), 'the end of the late turn');
  const start = rig.events.find((event) => event.type === 'turnStarted' && isLate(event.nativeTurnId));
  check(
    start?.type === 'turnStarted' && start.deliveryId === undefined,
    'late activity was told as the turn of a text of ours',
  );
  await rig.useIt(conversation);
}

async function twoEnds(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'twoEnds');
  await rig.ended(id);
  await rig.until(() => rig.count('noise') > 0, 'the second end to be told as noise');
  check(rig.ends().length === 1, `${rig.ends().length} ends were told`);
  await rig.useIt(conversation);
}

async function silentTurn(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'silent');
  await rig.ended(id);
  await rig.useIt(conversation);
}

async function endBeforeStart(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'endBeforeStart');
  const end = await rig.ended(id);
  check(end.answer.trim() !== '', 'the turn was ended before the agent had answered');
  check(rig.ends().length === 1, `${rig.ends().length} ends were told`);
}

async function garbage(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'garbage');
  const end = await rig.ended(id);
  check(end.status === 'succeeded', `the turn ended as ${end.status}`);
  check(rig.count('noise') > 0, 'the garbage was not told as noise');
}

async function bigLine(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'bigLine');
  const end = await rig.ended(id);
  check(end.status === 'succeeded', `the turn ended as ${end.status}`);
  check(Buffer.byteLength(end.answer) < 2 * 1024 * 1024, 'the answer is not bounded');
  await rig.useIt(conversation);
}

async function death(rig: Rig, behaviour: Behaviour): Promise<void> {
  const text = rig.prompt(behaviour);
  const conversation = await rig.open();
  // It may be dead before the driver knows that its write went through.
  const { id } = await rig.send(conversation, text);
  await rig.until(() => rig.count('exited') > 0, 'the exit');
  check(
    behaviour !== 'diesAfterTurn' || rig.ends()[0]?.status === 'succeeded',
    'the end before the death was not told',
  );
  check(
    behaviour === 'diesAfterTurn' || rig.ends().every(({ status }) => status !== 'succeeded'),
    'a turn that died succeeded',
  );
  const evidence = await rig.call('evidence', () => conversation.evidence(id));
  check(evidence.state !== 'queued', 'a dead process has nothing queued');
  const again = await rig.send(conversation, text);
  check(again.outcome === 'refused', `a start into a dead process was ${again.outcome}`);
  check(
    (await rig.call('interrupt', () => conversation.interrupt())) !== 'asked',
    'a dead process was asked to stop',
  );
}

async function hangs(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'hangs');
  await rig.pass(500);
  await rig.call('interrupt', () => conversation.interrupt());
  await rig.pass(500);
  check(rig.ends().length === 0, 'a turn without an end was ended');
  const evidence = await rig.call('evidence', () => conversation.evidence(id));
  check(evidence.state !== 'absent', 'a text that a living process has is not absent');
  await rig.end(conversation);
}

async function ignoresCancel(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'ignoresCancel');
  await rig.started(id);
  await rig.call('interrupt', () => conversation.interrupt());
  const end = await rig.ended(id);
  check(end.status === 'succeeded', `a turn that went on in spite of an interrupt ended as ${end.status}`);
}

async function stopsReading(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  await rig.ended(await rig.begin(conversation, 'stopsReading'));
  const { id } = await rig.send(conversation, 'Is anybody there?');
  await rig.pass(300);
  check(rig.ends().length === 1, 'a text that nobody read was answered');
  const evidence = await rig.call('evidence', () => conversation.evidence(id));
  check(
    evidence.state === 'queued' || evidence.state === 'unknown',
    `a text that nobody read is ${evidence.state}`,
  );
  await rig.end(conversation);
}

async function badStart(rig: Rig, fault: 'diesAtStart' | 'hangsAtStart' | 'garbageAtStart'): Promise<void> {
  const profile = rig.faulty[fault];
  if (!profile) throw new CaseSkipped('no profile with this fault was given');
  const opened = await rig.tryOpen({ profile });
  check(!opened.ok, 'a conversation was opened');
  check(opened.code !== 'SESSION_GONE', 'there was no conversation that could be gone');
  check(opened.message.trim() !== '', 'the failure says nothing');
}
