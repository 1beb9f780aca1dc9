import type { Capabilities, Conversation } from '../port.ts';
import type { ConformanceCase } from './cases-of-turns.ts';
import type { Behaviour } from './prompts.ts';
import { CaseSkipped, check } from './report.ts';
import type { Rig } from './rig.ts';
import type { TestTools } from './test-tools.ts';

/** Cases about texts that are put into a running turn: what the driver says of them, and what the agent shows. */
export const casesOfSteering: readonly ConformanceCase[] = [
  {
    name: 'steerTaken',
    title: 'a steered text is proven in its turn, or steering is declared impossible',
    needs: ['slow', 'simple'],
    run: (rig) => steerTaken(rig, 'slow'),
  },
  {
    name: 'steerInTool',
    title: 'a text that is steered in while a tool runs is proven in its turn',
    needs: ['slowTool', 'simple'],
    run: (rig) => steerTaken(rig, 'slowTool'),
  },
  {
    name: 'steerHeard',
    title: 'a steered text was heard when, and only when, it was told as taken',
    needs: ['slowTool', 'steered', 'simple'],
    declined: withoutSteering,
    run: steerHeard,
  },
  {
    name: 'steerRefused',
    title: 'a text is not steered into an idle agent',
    needs: ['simple'],
    run: steerRefused,
  },
  {
    name: 'steerUncertain',
    title: 'a steered text that an interrupt drops has a negative proof, and is not heard later',
    needs: ['slow', 'simple'],
    declined: withoutSteering,
    run: steerUncertain,
  },
  {
    name: 'withdraw',
    title: 'a text that was withdrawn is never heard, or nothing is said to be withdrawn',
    needs: ['slowTool', 'simple'],
    declined: withoutSteering,
    run: withdraw,
  },
];

function withoutSteering({ steer }: Capabilities): string | undefined {
  return steer === 'none' ? 'never steers' : undefined;
}

async function steer(rig: Rig, conversation: Conversation, behaviour: Behaviour): Promise<string> {
  const id = rig.newId();
  const text = rig.prompt(behaviour);
  const { outcome } = await rig.call(`steer ${id}`, () => conversation.steer({ id, text }));
  check(outcome === 'written', `a steer into a running turn was ${outcome}`);
  return id;
}

/** Taken up in the turn it was put into, or, where that turn was over first, the beginning of one of its own. */
function isTaken(rig: Rig, id: string): boolean {
  return rig.events.some(
    (event) => (event.type === 'taken' || event.type === 'turnStarted') && event.deliveryId === id,
  );
}

async function steerTaken(rig: Rig, busy: 'slow' | 'slowTool'): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, busy);
  const turn = await rig.started(id);
  if ((conversation.capabilities ?? rig.driver.capabilities).steer === 'none') {
    const text = rig.prompt('simple');
    const refused = await rig.call('steer', () => conversation.steer({ id: rig.newId(), text }));
    return check(refused.outcome === 'refused', `a driver without steering said ${refused.outcome}`);
  }
  const steered = await steer(rig, conversation, 'simple');
  await rig.ended(id);
  await rig.quiet();
  const taken = isTaken(rig, steered);
  const elsewhere = rig.events.some(
    (event) => event.type === 'taken' && event.deliveryId === steered && event.nativeTurnId !== turn,
  );
  check(!elsewhere, 'a steered text was taken in another turn than the one it was put into');
  const evidence = await rig.call('evidence', () => conversation.evidence(steered));
  // One that came too late for its turn may have begun the next one.
  const begun = rig.events.some((event) => event.type === 'turnStarted' && event.deliveryId === steered);
  if (taken || begun) check(evidence.state === 'consumed', `a text that was taken is ${evidence.state}`);
  else check(evidence.state !== 'consumed', 'a text is consumed that was never reported as taken');
}

/** The agent's own witness: the steered text makes it call a tool, and nothing else in this turn calls `echo`. */
async function steerHeard(rig: Rig): Promise<void> {
  const tools = toolsOf(rig);
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'slowTool');
  await rig.started(id);
  const heardBefore = timesHeard(tools);
  const steered = await steer(rig, conversation, 'steered');
  await rig.ended(id);
  // What a steer began after the end belongs to a turn of its own, which the next one would wait for.
  await rig.quiet();
  const { state } = await rig.call('evidence', () => conversation.evidence(steered));
  const heard = timesHeard(tools) - heardBefore;
  if (isTaken(rig, steered)) check(heard > 0, 'a text was told as taken that the agent never heard');
  check(heard <= 1, `a steered text was heard ${heard} times`);
  check(state !== 'absent' || heard === 0, 'a text is said to be absent that the agent heard');
  if (state !== 'absent') return;
  await rig.useIt(conversation);
  check(timesHeard(tools) === heardBefore, 'a text that was said to be absent surfaced later');
}

async function steerRefused(rig: Rig): Promise<void> {
  const text = rig.prompt('simple');
  const conversation = await rig.open();
  const id = rig.newId();
  const { outcome } = await rig.call(`steer ${id}`, () => conversation.steer({ id, text }));
  check(outcome === 'refused', `a steer into an idle agent was ${outcome}`);
  await rig.pass(500);
  check(rig.count('turnStarted') === 0, 'a refused steer started a turn');
}

async function steerUncertain(rig: Rig): Promise<void> {
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'slow');
  await rig.started(id);
  const steered = await steer(rig, conversation, 'simple');
  const withdrawn = await rig.call('withdraw', () => conversation.withdraw(steered));
  await rig.call('interrupt', () => conversation.interrupt());
  await rig.ended(id);
  const taken = isTaken(rig, steered);
  check(!(withdrawn === 'withdrawn' && taken), 'a text was withdrawn and taken');
  const evidence = await rig.call('evidence', () => conversation.evidence(steered));
  const wanted = taken ? 'consumed' : 'absent';
  check(
    evidence.state === wanted,
    `after the end of the turn the text must be ${wanted}; it is ${evidence.state}`,
  );
}

async function withdraw(rig: Rig): Promise<void> {
  const { negativeProof } = rig.driver.capabilities;
  const conversation = await rig.open();
  const id = await rig.begin(conversation, 'slowTool');
  await rig.started(id);
  const steered = await steer(rig, conversation, 'simple');
  const answer = await rig.call('withdraw', () => conversation.withdraw(steered));
  await rig.ended(id);
  const taken = isTaken(rig, steered);
  check(
    answer !== 'withdrawn' || negativeProof === 'withdraw',
    'a driver that declares no withdrawal withdrew a text',
  );
  check(!(answer === 'withdrawn' && taken), 'a text was withdrawn and taken');
  check(answer !== 'taken' || taken, 'a text was said to be taken that was never told as taken');
  if (answer !== 'withdrawn') return;
  const { state } = await rig.call('evidence', () => conversation.evidence(steered));
  check(state === 'absent', `a text that was withdrawn is ${state}`);
  await rig.useIt(conversation);
  check(!isTaken(rig, steered), 'a text that was withdrawn was taken later');
}

function toolsOf(rig: Rig): TestTools {
  if (!rig.tools) throw new CaseSkipped('no tools were given to the check');
  return rig.tools;
}

function timesHeard(tools: TestTools): number {
  return tools.calls.filter(({ name }) => name === 'echo').length;
}
