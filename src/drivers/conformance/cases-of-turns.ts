import type { Capabilities } from '../port.ts';
import type { Rig } from './rig.ts';
import type { Behaviour } from './prompts.ts';
import { CaseSkipped, check } from './report.ts';

/** One thing that is checked. It throws CaseFailed or CaseSkipped. */
export interface ConformanceCase {
  readonly name: string;
  readonly title: string;
  /** Without a prompt for each of these the case is skipped. */
  readonly needs: readonly Behaviour[];
  /** What a driver with these capabilities declares that it does not do, so that the case makes no sense ("never steers"). */
  readonly declined?: (capabilities: Capabilities) => string | undefined;
  run(rig: Rig): Promise<void>;
}

/** Cases about turns of an agent that does what it should. */
export const casesOfTurns: readonly ConformanceCase[] = [
  {
    name: 'probe',
    title: 'the program is found, within ten seconds, without a conversation',
    needs: [],
    run: probe,
  },
  { name: 'open', title: 'an idle conversation is idle, and ends', needs: [], run: openAndEnd },
  {
    name: 'simpleTurn',
    title: 'two turns, each with one start and one end',
    needs: ['simple'],
    run: simpleTurn,
  },
  {
    name: 'toolCall',
    title: 'a tool call is located in its running turn',
    needs: ['toolCall'],
    run: toolCall,
  },
  {
    name: 'startWhileRunning',
    title: 'a text is not started into a running turn',
    needs: ['slow', 'simple'],
    run: startWhileRunning,
  },
  {
    name: 'interrupt',
    title: 'an interrupted turn ends as interrupted',
    needs: ['slow', 'simple'],
    run: interrupt,
  },
  {
    name: 'pendingToolCall',
    title: 'text that goes with a pending tool call is no end and no answer',
    needs: ['pendingTool'],
    run: pendingToolCall,
  },
  {
    name: 'question',
    title: 'a question waits, is answered once, and the turn goes on',
    needs: ['question'],
    run: question,
  },
  {
    name: 'error',
    title: 'a failed turn says so',
    needs: ['error', 'simple'],
    run: (rig) => failure(rig, 'error', 'agent'),
  },
  {
    name: 'usageLimit',
    title: 'a usage limit is told as one',
    needs: ['usageLimit', 'simple'],
    declined: ({ limits }) => (limits ? undefined : 'cannot tell limits'),
    run: usageLimit,
  },
];

async function probe(rig: Rig): Promise<void> {
  const found = await rig.probe();
  check(found.found, `not found: ${found.warnings.join(' ')}`);
}

async function openAndEnd(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  check(conversation.nativeId !== '', 'an open conversation has an id');
  check(
    (await rig.call('interrupt', () => conversation.interrupt())) === 'idle',
    'interrupt of an idle agent must say idle',
  );
  const evidence = await rig.call('evidence of nothing', () => conversation.evidence('trn_never#1'));
  check(evidence.state === 'absent' || evidence.state === 'unknown', 'a text that was never sent was found');
  const located = await rig.call('locate', () => conversation.locate({ meta: {} }));
  check(located.state !== 'running', 'a call was located in an idle agent');
  check(
    !(await rig.call('answer', () => conversation.answer('nothing', 'yes'))),
    'a question was answered that nobody asked',
  );
  await rig.end(conversation);
}

async function simpleTurn(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const first = await rig.begin(conversation, 'simple');
  const end = await rig.ended(first);
  check(end.status === 'succeeded', `the turn ended as ${end.status}`);
  check(end.answer.trim() !== '', 'the answer is empty');
  const evidence = await rig.call('evidence', () => conversation.evidence(first));
  check(evidence.state === 'consumed', 'a text whose turn ended must be consumed');
  const second = await rig.begin(conversation, 'simple');
  check((await rig.ended(second)).nativeTurnId !== end.nativeTurnId, 'two turns have one id');
  await rig.quiet();
  check(rig.count('turnStarted') === 2, `${rig.count('turnStarted')} turns began for two texts`);
}

async function toolCall(rig: Rig): Promise<void> {
  const { tools } = rig;
  if (!tools) throw new CaseSkipped('no tools were given to the check');
  const text = rig.prompt('toolCall');
  const conversation = await rig.open();
  const located: { state: string; turn: string | undefined; isKnown: boolean }[] = [];
  tools.onCall(async (call) => {
    const answer = await rig.call('locate', () => conversation.locate({ meta: call.meta }));
    const turn = answer.state === 'running' ? answer.nativeTurnId : undefined;
    const isKnown = rig.events.some((event) => event.type === 'turnStarted' && event.nativeTurnId === turn);
    located.push({ state: answer.state, turn, isKnown });
  });
  const { id } = await rig.send(conversation, text);
  const end = await rig.ended(id);
  check(located.length > 0, 'the agent did not call the tool');
  for (const { state, turn, isKnown } of located) {
    check(state === 'running', `the call was located as ${state}`);
    check(turn === end.nativeTurnId, `the call was located in ${turn}, not in ${end.nativeTurnId}`);
    check(isKnown, 'the turn of the call was located before its start was told');
  }
  // A text that was sent a second time would make its calls a second time.
  const calls = tools.calls.length;
  await rig.quiet();
  check(tools.calls.length === calls, 'the agent called the tool again after its turn');
}

async function startWhileRunning(rig: Rig): Promise<void> {
  const text = rig.prompt('simple');
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'slow');
  await rig.started(id);
  const { outcome } = await rig.send(conversation, text);
  check(outcome === 'refused', `a second start was ${outcome}`);
}

async function interrupt(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'slow');
  await rig.started(id);
  check(
    (await rig.call('interrupt', () => conversation.interrupt())) === 'asked',
    'a running turn must be asked to stop',
  );
  const end = await rig.ended(id);
  check(end.status === 'interrupted', `the turn ended as ${end.status}`);
  await rig.useIt(conversation);
}

async function pendingToolCall(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'pendingTool');
  const end = await rig.ended(id);
  const kinds = rig.events.flatMap((event) => (event.type === 'item' ? [event.item.kind] : []));
  check(kinds.includes('toolCall'), 'no tool call was told');
  const items = rig.events.flatMap((event) =>
    event.type === 'item' && event.item.kind === 'text' ? [event.item.text] : [],
  );
  const commentary = items[0] ?? '';
  check(
    end.answer.trim() !== '' && !end.answer.includes(commentary),
    'the text before the tool call is in the answer',
  );
}

async function question(rig: Rig): Promise<void> {
  const text = rig.prompt('question');
  const conversation = await rig.open({ profile: rig.asking });
  const { id } = await rig.send(conversation, text);
  await rig.until(() => rig.count('waiting') > 0, 'the question');
  const asked = rig.events.find((event) => event.type === 'waiting');
  const [choice = ''] = asked?.choices ?? [];
  const questionId = asked?.questionId ?? '';
  check(choice !== '', 'the question has no choices');
  await rig.pass(300);
  check(rig.ends().length === 0, 'the turn ended while it waited for an answer');
  check(await rig.call('answer', () => conversation.answer(questionId, choice)), 'the answer was not taken');
  check(
    !(await rig.call('answer', () => conversation.answer(questionId, choice))),
    'a question was answered twice',
  );
  await rig.ended(id);
  check(rig.count('resumed') === 1, 'the turn was not told as resumed');
}

async function failure(
  rig: Rig,
  behaviour: 'error' | 'usageLimit',
  kind: 'agent' | 'capacity',
): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, behaviour);
  const end = await rig.ended(id);
  check(end.status === 'failed', `the turn ended as ${end.status}`);
  check(end.error?.kind === kind, `the error is of kind ${end.error?.kind}`);
  await rig.useIt(conversation);
}

/** Some agents fail at once, and some wait for the limit to end: then that is told, and an interrupt ends the wait. */
async function usageLimit(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'usageLimit');
  const isWaiting = (): boolean =>
    rig.events.some((event) => event.type === 'waiting' && event.waitsFor === 'capacity');
  await rig.until(() => isWaiting() || rig.ends().length > 0, 'the usage limit to be told');
  if (isWaiting() && rig.ends().length === 0) await rig.call('interrupt', () => conversation.interrupt());
  const end = await rig.ended(id);
  const isTold = isWaiting() || end.error?.kind === 'capacity';
  check(isTold, `the error is of kind ${end.error?.kind}`);
  check(end.status !== 'succeeded', 'a turn that met a usage limit succeeded');
  await rig.useIt(conversation);
}
