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

/** The numbers of the requests that the model was still answering at this place of its log. */
export function unansweredAt(model: ModelServer, index: number): number[] {
  const before = model.log.slice(0, index);
  const ended = new Set(before.flatMap((event) => (event.type === 'ended' ? [event.number] : [])));
  return before.flatMap((event) =>
    event.type === 'request' && !ended.has(event.number) ? [event.number] : [],
  );
}
