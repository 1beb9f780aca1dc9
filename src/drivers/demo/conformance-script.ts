import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentProfile } from '../port.ts';

/*
 * The demo agent as the agent under a driver check: it can be told everything that a check asks for. The prompts here are
 * the map that `checkDriver` takes; the rules below are what the demo agent does for them.
 */

/** How the demo agent is asked for each behaviour. The keys are those of the check's `Prompts`. */
const demoPrompts = {
  simple: 'check: simple',
  toolCall: 'check: toolCall',
  slow: 'check: slow',
  brief: 'check: brief',
  slowTool: 'check: slowTool',
  steered: 'check: steered',
  signIn: 'check: signIn',
  error: 'check: error',
  usageLimit: 'check: usageLimit',
  late: 'check: late',
  pendingTool: 'check: pendingTool',
  twoEnds: 'check: twoEnds',
  silent: 'check: silent',
  endBeforeStart: 'check: endBeforeStart',
  garbage: 'check: garbage',
  bigLine: 'check: bigLine',
  question: 'check: question',
  diesSilently: 'check: diesSilently',
  diesInTurn: 'check: diesInTurn',
  diesAfterTurn: 'check: diesAfterTurn',
  hangs: 'check: hangs',
  ignoresCancel: 'check: ignoresCancel',
  stopsReading: 'check: stopsReading',
} as const;

const does: { readonly [B in keyof typeof demoPrompts]: readonly object[] } = {
  simple: [{ say: 'ready' }],
  toolCall: [
    { call: 'echo', with: { text: 'check' }, silent: true },
    { call: 'echo', with: { text: 'again' } },
    { say: 'done' },
  ],
  slow: Array.from({ length: 30 }, (_, index) => ({ say: `${index} `, afterMs: index === 0 ? 0 : 100 })),
  brief: [{ say: 'I count: ' }, { wait: 900 }, { say: 'done' }],
  slowTool: [{ say: 'Let me see. ' }, { call: 'slow', with: { ms: 2000 } }, { say: 'done' }],
  steered: [{ call: 'echo', with: { text: 'steered' } }, { say: 'done' }],
  signIn: [{ login: 'the sign-in has expired' }],
  error: [{ say: 'I try. ' }, { fail: 'the model broke off' }],
  usageLimit: [{ limit: 'You have reached your usage limit.', resetsInMs: 3_600_000 }],
  late: [{ say: 'done' }, { later: [{ say: 'one more thing' }], afterMs: 200 }],
  pendingTool: [
    { say: 'All finished, I only look. ' },
    { work: 'ls', ms: 500, output: 'a' },
    { say: 'There is one file.' },
  ],
  twoEnds: [{ say: 'done' }, { respond: 'end_turn' }, { wait: 100 }],
  silent: [{ wait: 100 }],
  endBeforeStart: [
    { respond: 'end_turn', id: 'prompt:somebody-elses' },
    { wait: 200 },
    { say: 'the real end' },
  ],
  garbage: [{ garbage: 'Warning: something is deprecated' }, { garbage: '{"jsonrpc":' }, { say: 'done' }],
  bigLine: [{ bigLine: 1_200_000 }],
  question: [{ ask: 'Remove the directory?', allowed: [{ say: 'removed' }], denied: [{ say: 'kept' }] }],
  diesSilently: [{ kill: true }],
  diesInTurn: [{ say: 'I beg' }, { exit: 1 }],
  // Loses nothing that it has said: it waits until its answer is out.
  diesAfterTurn: [{ say: 'done' }, { later: [{ exit: 0 }], afterMs: 100 }],
  hangs: [{ say: 'hm' }, { hang: true }],
  ignoresCancel: [{ ignoreCancel: true }, { say: 'I go on' }, { wait: 1000 }, { say: '.' }],
  stopsReading: [{ stopReading: true }, { say: 'done' }],
};

/** The script, as a file holds it. */
const conformanceScript = {
  name: 'Everything that a driver check asks for',
  rules: Object.entries(does).map(([behaviour, actions]) => ({ when: `^check: ${behaviour}$`, do: actions })),
};

/** What a check of the demo agent is given besides its driver. */
export interface DemoCheck {
  readonly profile: AgentProfile;
  readonly prompts: typeof demoPrompts;
  readonly faulty: {
    readonly diesAtStart: AgentProfile;
    readonly hangsAtStart: AgentProfile;
    readonly garbageAtStart: AgentProfile;
  };
}

/** Writes the scripts into `directory` and makes a profile for each; `profileFor` runs the demo agent with a script file. */
export function demoCheck(directory: string, profileFor: (scriptFile: string) => AgentProfile): DemoCheck {
  const profileOf = (name: string, script: object): AgentProfile => {
    const file = join(directory, `${name}.json`);
    writeFileSync(file, JSON.stringify(script, undefined, 2));
    return profileFor(file);
  };
  return {
    profile: profileOf('conformance', conformanceScript),
    prompts: demoPrompts,
    faulty: {
      diesAtStart: profileOf('dies-at-start', { rules: [], onSession: [{ exit: 3 }] }),
      hangsAtStart: profileOf('hangs-at-start', { rules: [], onInitialize: [{ hang: true }] }),
      garbageAtStart: profileOf('garbage-at-start', {
        rules: [],
        onInitialize: [{ garbage: 'usage: agent [options]' }, { garbage: '[1, 2]' }, { exit: 2 }],
      }),
    },
  };
}
