import { assertNever } from '../../base/assert-never.ts';
import type { Capabilities } from '../port.ts';
import type { CaseResult } from './report.ts';

/**
 * One thing that a driver declares, and what the cases say of it. `proved`: a case saw it. `refuted`: such a case failed.
 * `declared`: nothing that ran could show it.
 */
export interface CapabilityFinding {
  readonly name: keyof Capabilities;
  readonly value: string | boolean;
  /** What the value means, for a person. */
  readonly meaning: string;
  readonly proof: 'proved' | 'refuted' | 'declared';
  /** The cases that say so; for `declared`, those that could have. */
  readonly cases: readonly string[];
}

/** What a driver declares, in the order of the port, beside what these cases showed of it. */
export function capabilityTable(
  capabilities: Capabilities,
  cases: readonly CaseResult[],
): CapabilityFinding[] {
  return names.map((name) => {
    const value = capabilities[name];
    const meaning = meanings[name][String(value)] ?? '';
    return { name, value, meaning, ...judge(cases, witnesses(capabilities, name)) };
  });
}

interface Witness {
  readonly name: string;
  /** What must stand in the evidence of the case, besides that it passed. */
  readonly saw?: RegExp;
}

function judge(
  cases: readonly CaseResult[],
  able: readonly Witness[],
): Pick<CapabilityFinding, 'proof' | 'cases'> {
  const results = able.flatMap(({ name, saw }) => {
    const result = cases.find((one) => one.name === name);
    return result ? [{ name, result, saw }] : [];
  });
  const failed = results.filter(({ result }) => result.outcome.state === 'failed');
  if (failed.length > 0) return { proof: 'refuted', cases: failed.map(({ name }) => name) };
  const proving = results.filter(
    ({ result, saw }) =>
      result.outcome.state === 'passed' && (!saw || result.evidence.some((line) => saw.test(line))),
  );
  if (proving.length > 0) return { proof: 'proved', cases: proving.map(({ name }) => name) };
  return { proof: 'declared', cases: able.map(({ name }) => name) };
}

/** The cases that show what is declared. That something never happens, no case can show. */
function witnesses(capabilities: Capabilities, name: keyof Capabilities): readonly Witness[] {
  switch (name) {
    case 'steer':
      return capabilities.steer === 'proven'
        ? [
            { name: 'steerTaken', saw: /^@\S+ taken / },
            { name: 'steerInTool', saw: /^@\S+ taken / },
            { name: 'steerHeard', saw: /^@\S+ taken / },
          ]
        : [{ name: 'steerTaken' }];
    case 'negativeProof':
      // Only a text that the agent did not take can prove it.
      return capabilities.negativeProof === 'none'
        ? []
        : [
            { name: 'steerUncertain', saw: /^evidence → .*"absent"/ },
            { name: 'withdraw', saw: /^withdraw → withdrawn/ },
          ];
    case 'turnEnd':
      return [{ name: 'simpleTurn' }, { name: 'pendingToolCall' }];
    case 'resume':
      return [{ name: 'resumeAfterKill' }];
    case 'locatesCalls':
      return [{ name: 'toolCall' }];
    case 'limits':
      return capabilities.limits ? [{ name: 'usageLimit' }] : [];
    case 'usage':
      return capabilities.usage === 'none' ? [] : [{ name: 'simpleTurn', saw: /^@\S+ turnEnded .*"usage":/ }];
    case 'backgroundTasks':
      return capabilities.backgroundTasks ? [{ name: 'task' }] : [];
    case 'wakesByItself':
      return capabilities.wakesByItself ? [{ name: 'task' }] : [];
    case 'promptCancelsBackground':
      return [];
    default:
      return assertNever(name);
  }
}

type Meanings = { readonly [Name in keyof Capabilities]: Readonly<Record<string, string>> };

const meanings: Meanings = {
  steer: {
    proven: 'a text can be put into a running turn, and is reported when the agent took it up',
    none: 'nothing is put into a running turn; results wait for its end',
  },
  negativeProof: {
    turnEnd: 'a text that was not taken by the end of its turn never will be, and may be sent again',
    withdraw: 'the agent takes a text back when asked, and says whether it had it',
    none: 'nothing is steered, so nothing has to be taken back',
  },
  turnEnd: {
    protocol: 'the agent itself says when its turn is over',
    process: 'a turn is over when its process has ended',
  },
  backgroundTasks: {
    true: 'what the agent runs by itself in the background is reported, and holds the tree open',
    false: 'what the agent runs by itself in the background is not seen',
  },
  wakesByItself: {
    true: 'the agent goes on by itself when its background work ends',
    false: 'the agent does not go on by itself when its background work ends; Stemma tells it',
  },
  promptCancelsBackground: {
    true: 'a new message ends what the agent runs in the background',
    false: 'a new message leaves what the agent runs in the background alone',
  },
  resume: {
    always: 'a conversation is had again after its process died',
    whereOffered: 'a conversation is had again after its process died, if this agent can load it',
    never: 'a conversation is gone with its process',
  },
  locatesCalls: {
    byId: 'a tool call names the turn that made it',
    byOrder: 'a tool call belongs to the turn that runs when it arrives',
  },
  limits: {
    true: 'a usage limit is told from a failure, and waited out',
    false: 'a usage limit looks like any other failure',
  },
  usage: {
    none: 'what a turn uses is not told; no budget can be kept',
    whereOffered:
      'what a turn uses is told if this agent does; say so by "usage" in its profile to give budgets',
    tokens: 'the tokens of each turn are told; a budget of tokens is kept',
    cost: 'tokens and cost of each turn are told; a budget of either is kept',
  },
};

const names = Object.keys(meanings) as (keyof Capabilities)[];
