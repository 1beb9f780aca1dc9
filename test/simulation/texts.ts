/** Whom an agent can call, as it was told. */
export interface CanCall {
  readonly agents: readonly string[];
  readonly isGeneric: boolean;
}

/** What a text that an agent receives carries, read from the text itself and from nothing else. */
export type Carried =
  /** `isMarkedAgain`: it says that a limit stopped it before. */
  | {
      readonly kind: 'message';
      readonly label: string;
      readonly isMarkedAgain: boolean;
      /** It says that work may be given out. */
      readonly calls?: CanCall | undefined;
    }
  | {
      readonly kind: 'result';
      /** Whose result. Everything in a history has a label of its own, which is also its name in the ledger, or stands for that. */
      readonly label: string;
      readonly noticeId: string;
      readonly epoch: number;
      /** It says that it was delivered before, or that nobody knows how the work ended. */
      readonly isMarkedAgain: boolean;
    };

const head =
  /^\[stemma (ntc_\S+) #(\d+)\] (\S.*?) (succeeded|failed|cancelled|lost) \((exe_\S+)\)\n?(\(delivered again)?/gm;

const again = /^\[stemma exe_\S+ again #\d+\] .*\n\n/;

/**
 * Reads a text as the agent reads it: results announce themselves, anything else is a message by its own label. `labels`: of
 * executions whose name in the ledger is not their label.
 */
export function readText(text: string, labels: ReadonlyMap<string, string>): Carried[] {
  const results = [...text.matchAll(head)].map((match): Carried => {
    const [, noticeId = '', epoch = '', name = '', state, executionId = '', again] = match;
    return {
      kind: 'result',
      label: labels.get(executionId) ?? name,
      noticeId,
      epoch: Number(epoch),
      isMarkedAgain: again !== undefined || state === 'lost',
    };
  });
  if (results.length > 0) return results;
  const own = text.replace(again, '');
  const [label = ''] = own.split('\n', 1);
  return [{ kind: 'message', label, isMarkedAgain: own !== text, calls: readCalls(own) }];
}

/** The part of a text that says whom the agent can call; empty where it may call nobody. */
export function givingPart(text: string): string {
  return /\n\n\[stemma\] You can give out work\.[^]*$/.exec(text)?.[0] ?? '';
}

function readCalls(text: string): CanCall | undefined {
  const told = givingPart(text);
  if (told === '') return undefined;
  const agents = [...told.matchAll(/^- (\w+)/gm)].map(([, name = '']) => name);
  return { agents, isGeneric: told.includes('call_generic_agent calls') };
}

/** Which time it is that results come together, and how often they may; undefined where they come one by one. */
export function readRound(text: string): { readonly round: number; readonly of: number | null } | undefined {
  const head = /^\[stemma batch, round (\d+)(?: of (\d+))?\]/.exec(text);
  return head ? { round: Number(head[1]), of: head[2] === undefined ? null : Number(head[2]) } : undefined;
}
