import type { Notice } from '../../../src/ledger/notice.ts';
import type { Steer } from '../../../src/ledger/turn.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, commandIf, firstOf } from '../moment.ts';
import { listed } from '../state.ts';

/** Whether this decision is proof that a text which had left us will never be taken up. */
function isNegativeProof(moment: Moment): boolean {
  const what = commandIf(moment, 'resolveSteer')?.what;
  if (what === 'refused' || what === 'withdrawn') return true;
  if (commandIf(moment, 'agentExited')) return true;
  return commandIf(moment, 'agentEnded')?.endIsNegativeProof === true;
}

function steerOf(moment: Moment, notice: Notice): { was: Steer | undefined; is: Steer | undefined } {
  const id = notice.steerId;
  if (id === null) return { was: undefined, is: undefined };
  return { was: moment.before.steers.get(id), is: moment.after.steers.get(id) };
}

/** Why a notice may not have gone from `was` to `row` in this decision, if so. */
function illegalStep(moment: Moment, was: Notice, row: Notice): string | undefined {
  const continuation = moment.after.executions.get((was.continuationId ?? row.continuationId) as never);
  switch (`${was.state} ${row.state}`) {
    case 'owed claimed':
      return row.epoch === was.epoch + 1 ? undefined : 'a claim is a hand-over of its own';
    case 'owed handed':
      return row.epoch === was.epoch + 1 ? undefined : 'a hand-over has a number of its own';
    case 'claimed handed':
      return steerOf(moment, was).is?.state === 'taken' && row.epoch === was.epoch
        ? undefined
        : 'no text was taken';
    case 'claimed owed':
      return givenBack(moment, was);
    case 'handed handled':
      return continuation?.state === 'succeeded' ? undefined : 'its continuation did not succeed';
    case 'handed owed':
      return redelivered(moment, was, row);
    case 'claimed waived':
      return inFlight(moment, was);
    case 'owed waived':
    case 'handed waived':
      return undefined;
    default:
      return 'there is no such step';
  }
}

function givenBack(moment: Moment, was: Notice): string | undefined {
  const steer = steerOf(moment, was);
  if (steer.is?.state === 'taken') return 'its text was taken';
  if (steer.was?.state === 'written' && !isNegativeProof(moment))
    return 'nothing proves that its text never will be taken';
  return steer.is?.endedAt === null ? 'its steer goes on' : undefined;
}

function inFlight(moment: Moment, was: Notice): string | undefined {
  const steer = steerOf(moment, was);
  return steer.was?.state === 'written' && steer.is?.endedAt === null
    ? 'its text is in the hands of the agent'
    : undefined;
}

function redelivered(moment: Moment, was: Notice, row: Notice): string | undefined {
  const continuation = moment.after.executions.get(was.continuationId as never);
  if (continuation?.state !== 'failed' && continuation?.state !== 'lost')
    return 'its continuation did not fail';
  const kind = commandIf(moment, 'agentEnded')?.error?.kind;
  const isWait = kind === 'capacity' || kind === 'login';
  if (row.attempt !== was.attempt + (isWait ? 0 : 1)) return `attempt ${was.attempt} became ${row.attempt}`;
  const soonest = moment.now + (isWait ? 0 : 1000 * 4 ** (row.attempt - 1));
  return row.notBefore >= soonest ? undefined : 'it backs off for too short a time';
}

function checkSteps(moment: Moment): string | undefined {
  return firstOf(changed(moment.before.notices, moment.after.notices), ({ was, row }) => {
    if (!was || was.state === row.state) return undefined;
    const why = illegalStep(moment, was, row);
    return why && `${short(row.id)} went from ${was.state} to ${row.state}: ${why}`;
  });
}

const steerSteps = new Set([
  'claimed written',
  'claimed taken',
  'claimed refused',
  'claimed withdrawn',
  'written taken',
  'written refused',
  'written withdrawn',
]);

function checkSteers(moment: Moment): string | undefined {
  return firstOf(changed(moment.before.steers, moment.after.steers), ({ was, row }) => {
    if (!was || was.state === row.state) return undefined;
    if (!steerSteps.has(`${was.state} ${row.state}`))
      return `${short(row.id)} went from ${was.state} to ${row.state}`;
    const isEnd = row.state === 'refused' || row.state === 'withdrawn';
    return was.state === 'written' && isEnd && !isNegativeProof(moment)
      ? `${short(row.id)} was given up`
      : undefined;
  });
}

/** A steer that is about to be written carries what it was claimed for. */
function checkWritten(moment: Moment): string | undefined {
  return firstOf(changed(moment.before.steers, moment.after.steers), ({ was, row }) => {
    if (row.state !== 'written' || was?.state === 'written') return undefined;
    if (row.messageId !== null)
      return moment.after.inputs.get(row.messageId)?.steerId === row.id
        ? undefined
        : `${short(row.id)} carries a message that was cancelled`;
    const carried = [...moment.after.notices.values()].filter((notice) => notice.steerId === row.id);
    const dropped = carried.find((notice) => notice.state !== 'claimed');
    return dropped && `${short(row.id)} is written with ${short(dropped.id)}, which is ${dropped.state}`;
  });
}

/** The first line of a result in a text, and whether the text says that it is delivered again. */
function missing(text: string, notice: Notice, wasHanded: boolean): string | undefined {
  const head = `[stemma ${notice.id} #${notice.epoch}] `;
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith(head));
  if (at < 0) return `the text has no line "${short(head)}"`;
  const isMarked = lines[at + 1]?.startsWith('(delivered again') ?? false;
  return isMarked === wasHanded ? undefined : `delivered before: ${wasHanded}, marked: ${isMarked}`;
}

function checkTexts({ before, after, facts }: Moment): string | undefined {
  const composed: { text: string; notices: readonly Notice[] }[] = [];
  for (const { was, row } of changed(before.steers, after.steers))
    if (!was && row.messageId === null)
      composed.push({
        text: row.text,
        notices: [...after.notices.values()].filter((n) => n.steerId === row.id),
      });
  for (const { was, row } of changed(before.turns, after.turns)) {
    if (was || row.cause !== 'notices' || row.text === '') continue;
    const owner = listed(after.owners, row.id)[0];
    composed.push({
      text: row.text,
      notices: [...after.notices.values()].filter((n) => n.continuationId === owner?.id),
    });
  }
  return firstOf(composed, ({ text, notices }) => {
    if (notices.length === 0) return 'a text without a result';
    return firstOf(notices, (notice) => {
      const delivery = `${notice.id} #${notice.epoch}`;
      if (facts.texts.has(delivery)) return `${short(delivery)} was composed twice`;
      facts.texts.add(delivery);
      const wasHanded = (before.notices.get(notice.id)?.handedAt ?? null) !== null;
      const why = missing(text, notice, wasHanded);
      return why && `${short(notice.id)}: ${why}`;
    });
  });
}

/** What our text stands for begins with it: the results it carries are handed over, the message runs. */
function checkTaken(moment: Moment): string | undefined {
  const { before, after } = moment;
  const command = commandIf(moment, 'agentTook') ?? commandIf(moment, 'agentStarted');
  const steer = [...before.steers.values()].find((row) => row.id === command?.deliveryId);
  if (!command || steer?.sessionId !== command.sessionId || steer.endedAt !== null) return undefined;
  if (after.steers.get(steer.id)?.state !== 'taken')
    return `${short(steer.id)} was taken up, and still is on its way`;
  if (steer.messageId !== null) {
    const isQueued = before.executions.get(steer.messageId)?.state === 'queued';
    const is = after.executions.get(steer.messageId)?.state;
    return isQueued && is !== 'running' ? `${short(steer.messageId)} was taken up, and is ${is}` : undefined;
  }
  const carried = [...before.notices.values()].filter(
    (row) => row.steerId === steer.id && row.state === 'claimed',
  );
  const left = carried.find((row) => {
    const isDropped = before.executions.get(row.countedOn)?.cancelRequested;
    return after.notices.get(row.id)?.state !== (isDropped ? 'waived' : 'handed');
  });
  return left && `${short(left.id)} was taken up, and is ${after.notices.get(left.id)?.state}`;
}

/** A text that provably never got there frees its lane. */
function checkFailedSend(moment: Moment): string | undefined {
  const command = commandIf(moment, 'sendFailed');
  if (!command || moment.before.turns.get(command.turnId)?.state !== 'starting') return undefined;
  const turn = moment.after.turns.get(command.turnId);
  return turn?.status === 'refused' ? undefined : `${short(command.turnId)} is ${turn?.state} for ever`;
}

/** How results travel (invariant 5): back only on negative proof, and with the number of the hand-over in the text. */
export const deliveryProperties: readonly Property[] = [
  {
    name: 'a notice goes owed, claimed, handed, handled, and back only on negative proof',
    check: checkSteps,
  },
  { name: 'a written text ends as taken or on negative proof', check: checkSteers },
  { name: 'what is written into a turn is still wanted', check: checkWritten },
  { name: 'what is taken up begins: results are handed over, a message runs', check: checkTaken },
  { name: 'a text that never got there frees its lane', check: checkFailedSend },
  {
    name: 'a text names its results, the number of the hand-over, and whether it is one more',
    check: checkTexts,
  },
];
