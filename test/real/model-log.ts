import type { ModelServer } from '../model/model-server.ts';

/** Where in the model's log a text was first heard, or -1. */
export function firstHeard(model: ModelServer, part: string): number {
  return model.log.findIndex(
    (event) => event.type === 'request' && event.userTexts.at(-1)?.includes(part) === true,
  );
}

/** The turns, by the agent's own ids, in which a text with this in it was the newest: each was told it once. */
export function turnsWith(model: ModelServer, part: string): string[] {
  const turns = model.log.flatMap((event) =>
    event.type === 'request' && event.userTexts.at(-1)?.includes(part) ? [event.turnId ?? 'none'] : [],
  );
  return [...new Set(turns)];
}

/**
 * The numbers of the requests that the model was still answering at this place of its log; `among`: of conversations that began with
 * such a text.
 */
export function unansweredAt(model: ModelServer, index: number, among = /^/): number[] {
  const before = model.log.slice(0, index);
  const ended = new Set(before.flatMap((event) => (event.type === 'ended' ? [event.number] : [])));
  return before.flatMap((event) =>
    event.type === 'request' && !ended.has(event.number) && among.test(event.userTexts[0] ?? '')
      ? [event.number]
      : [],
  );
}

/** What the model was told in the conversation that first heard a text with this in it: each text once a turn, in its order. */
export function toldWith(model: ModelServer, part: string): string[] {
  const first = model.log[firstHeard(model, part)];
  const thread = first?.type === 'request' ? first.threadId : undefined;
  const told = model.log.flatMap((event) =>
    event.type === 'request' && event.threadId === thread
      ? [{ turn: event.turnId, text: event.userTexts.at(-1) ?? '' }]
      : [],
  );
  return told
    .filter(({ turn, text }, at) => told.findIndex((one) => one.turn === turn && one.text === text) === at)
    .map(({ text }) => text);
}
