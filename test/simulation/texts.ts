/** What a text that an agent receives carries, read from the text itself and from nothing else. */
export type Carried =
  /** `isMarkedAgain`: it says that a limit stopped it before. */
  | { readonly kind: 'message'; readonly label: string; readonly isMarkedAgain: boolean }
  | {
      readonly kind: 'result';
      /** Whose result. Everything in a history has a label of its own, which is also its name in the ledger. */
      readonly label: string;
      readonly noticeId: string;
      readonly epoch: number;
      /** It says that it was delivered before, or that nobody knows how the work ended. */
      readonly isMarkedAgain: boolean;
    };

const head =
  /^\[stemma (ntc_\S+) #(\d+)\] (\S+) (succeeded|failed|cancelled|lost) \(exe_\S+\)\n?(\(delivered again)?/gm;

const again = /^\[stemma exe_\S+ again #\d+\] .*\n\n/;

/** Reads a text as the agent reads it: results announce themselves, anything else is a message by its own label. */
export function readText(text: string): Carried[] {
  const results = [...text.matchAll(head)].map((match): Carried => {
    const [, noticeId = '', epoch = '', label = '', state, again] = match;
    return {
      kind: 'result',
      label,
      noticeId,
      epoch: Number(epoch),
      isMarkedAgain: again !== undefined || state === 'lost',
    };
  });
  if (results.length > 0) return results;
  const label = text.replace(again, '');
  return [{ kind: 'message', label, isMarkedAgain: label !== text }];
}
