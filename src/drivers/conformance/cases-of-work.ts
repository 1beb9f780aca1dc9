import type { DriverEvent } from '../port.ts';
import type { ConformanceCase } from './cases-of-turns.ts';
import { check } from './report.ts';
import type { Rig } from './rig.ts';

/** Cases about what goes on beside a turn: background work, restarts of ours, another conversation in the same directory. */
export const casesOfWork: readonly ConformanceCase[] = [
  {
    name: 'task',
    title: 'background work is told while it lives, and so is its end, and what the agent does then',
    needs: ['background', 'simple'],
    declined: ({ backgroundTasks }) => (backgroundTasks ? undefined : 'does not see background work'),
    run: task,
  },
  {
    name: 'signIn',
    title: 'an expired sign-in is told as one',
    needs: ['signIn'],
    run: signIn,
  },
  {
    name: 'endWhileAway',
    title: 'a turn that ended while nobody listened is told as ended, with its answer',
    needs: ['brief', 'simple'],
    run: endWhileAway,
  },
  {
    name: 'questionAdopted',
    title: 'a question outlives us, or it is told that it did not',
    needs: ['question'],
    run: questionAdopted,
  },
  {
    name: 'twoConversations',
    title: 'two conversations in one directory hear nothing of each other',
    needs: ['brief', 'simple'],
    run: twoConversations,
  },
];

type EventOf<Type extends DriverEvent['type']> = Extract<DriverEvent, { type: Type }>;

function all<Type extends DriverEvent['type']>(rig: Rig, type: Type): EventOf<Type>[] {
  return rig.events.filter((event): event is EventOf<Type> => event.type === type);
}

async function task(rig: Rig): Promise<void> {
  const { wakesByItself } = rig.driver.capabilities;
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'background');
  const end = await rig.ended(id);
  const known = new Set(
    [...end.tasks, ...all(rig, 'taskStarted').map(({ task }) => task)].map((one) => one.taskId),
  );
  check(known.size > 0, 'the turn ended and left work behind that nobody told of');
  await rig.until(() => all(rig, 'taskEnded').length > 0, 'the end of the background work');
  const over = all(rig, 'taskEnded');
  check(
    over.every(({ taskId }) => known.has(taskId)),
    'work ended that was never told',
  );
  check(new Set(over.map(({ taskId }) => taskId)).size === over.length, 'work ended twice');
  if (wakesByItself) await ownWake(rig, end.nativeTurnId, known);
  await rig.useIt(conversation);
  const [last] = rig.ends().slice(-1);
  check(
    last?.tasks.every(({ taskId }) => !over.some((one) => one.taskId === taskId)) ?? false,
    'work that ended lives again',
  );
}

/** The turn that the agent begins by itself when its work has ended: told as such, and ended. */
async function ownWake(rig: Rig, first: string, known: ReadonlySet<string>): Promise<void> {
  const isOwn = ({ nativeTurnId }: { nativeTurnId: string }): boolean => nativeTurnId !== first;
  await rig.until(() => rig.ends().some(isOwn), 'the end of the turn that the agent begins by itself');
  const start = all(rig, 'turnStarted').find(isOwn);
  check(start?.deliveryId === undefined, 'a turn of the agent itself was told as that of a text of ours');
  check(
    start?.taskId === undefined || known.has(start.taskId),
    'the agent woke for work that was never told',
  );
}

async function signIn(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'signIn');
  const end = await rig.ended(id);
  check(end.status === 'failed', `the turn ended as ${end.status}`);
  check(end.error?.kind === 'login', `the error is of kind ${end.error?.kind}`);
}

async function endWhileAway(rig: Rig): Promise<void> {
  const first = await rig.open();
  const id = await rig.begin(first, 'brief');
  const turn = await rig.started(id);
  await rig.detach(first);
  await rig.pass(3000);
  const opened = await rig.tryOpen();
  check(opened.ok, `open failed: ${opened.ok ? '' : opened.message}`);
  check(opened.how === 'adopted', `the process lives, and open ${opened.how} another`);
  await rig.until(
    () => rig.ends().some((end) => end.nativeTurnId === turn),
    `turn ${turn} to end, which nobody listened to`,
  );
  const [end] = rig.ends();
  check(end?.status === 'succeeded', `the turn ended as ${end?.status}`);
  check(end.answer.trim() !== '', 'the answer of a turn that nobody listened to is lost');
  const evidence = await rig.call('evidence', () => opened.conversation.evidence(id));
  check(evidence.state === 'consumed', `the text of a turn that ended is ${evidence.state}`);
  await rig.useIt(opened.conversation);
  check(rig.ends().length === 2, `${rig.ends().length} ends were told of two turns`);
}

async function questionAdopted(rig: Rig): Promise<void> {
  const text = rig.prompt('question');
  const profile = rig.asking;
  const first = await rig.open({ profile });
  const { id } = await rig.send(first, text);
  await rig.until(() => rig.count('waiting') > 0, 'the question');
  const [asked] = all(rig, 'waiting');
  await rig.detach(first);
  const opened = await rig.tryOpen({ profile });
  check(opened.ok, `open failed: ${opened.ok ? '' : opened.message}`);
  check(opened.how === 'adopted', `the process lives, and open ${opened.how} another`);
  const { conversation } = opened;
  const questionId = all(rig, 'waiting').at(-1)?.questionId ?? '';
  const [choice = ''] = asked?.choices ?? [];
  const isAnswered = await rig.call('answer', () => conversation.answer(questionId, choice));
  if (!isAnswered)
    await rig.until(() => rig.ends().length > 0, 'the question to be answered, or its turn to end');
  await rig.ended(id);
  check(
    !(await rig.call('answer', () => conversation.answer(questionId, choice))),
    'a question was answered twice',
  );
}

async function twoConversations(rig: Rig): Promise<void> {
  const one = await rig.open();
  const other = rig.beside();
  const second = await other.open();
  check(one.nativeId !== second.nativeId, 'two conversations have one id');
  const [id, otherId] = [await rig.begin(one, 'brief'), await other.begin(second, 'brief')];
  const [end, otherEnd] = [await rig.ended(id), await other.ended(otherId)];
  check(end.status === 'succeeded', `the first turn ended as ${end.status}`);
  check(otherEnd.status === 'succeeded', `the second turn ended as ${otherEnd.status}`);
  await rig.quiet();
  check(
    rig.ends().length === 1 && other.ends().length === 1,
    'a turn of one conversation was told to the other',
  );
  const evidence = await rig.call('evidence of the other text', () => one.evidence(otherId));
  check(
    evidence.state !== 'consumed' && evidence.state !== 'queued',
    'a text of one conversation was found in the other',
  );
  await other.end(second);
  await rig.useIt(one);
}
