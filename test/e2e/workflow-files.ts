import { gate, type Action, noticeOf, on, parallel, say, type ScriptedAgent, until } from './script-words.ts';

/** A script step that waits until the scene's directory has this file. */
const waits = (file: string, more: object = {}): object => ({ type: 'script', run: gate(file), ...more });

/** A script step that tells its process and never ends by itself. */
const forEver = (file: string, more: object = {}): object => ({
  type: 'script',
  run: `echo $$ > ${file}; exec sleep 600`,
  ...more,
});

/** The workflows of these tests, as their files say them. Where they wait it is for files of the scene. */
export const workflowFiles: Readonly<Record<string, object>> = {
  chain: {
    description: 'A script, an agent with a background agent of its own, and a workflow below.',
    steps: {
      fetch: { type: 'script', run: 'test -n "$STEMMA_TOKEN" && echo fetched' },
      fix: { type: 'agent', agent: 'worker', needs: ['fetch'], prompt: 'Delegate to a helper.' },
      again: { type: 'workflow', needs: ['fix'], workflow: 'inner' },
    },
  },
  inner: { steps: { last: waits('go') } },
  broken: { steps: { one: { type: 'script', run: 'echo this is why >&2; exit 3' } } },
  talk: { steps: { one: { type: 'agent', agent: 'worker', prompt: 'Cry wolf.' } } },
  slow: { steps: { one: waits('go'), two: forEver('leaf', { needs: ['one'] }) } },
  ends: { steps: { leaf: forEver('leaf'), agent: { type: 'agent', agent: 'worker', prompt: 'Stay.' } } },
  five: {
    steps: {
      plan: {
        type: 'todo',
        agent: 'worker',
        prompt: 'Five at once.',
        agents: { hand: { agent: 'shell', description: 'does what it is told' } },
        onChildFailure: 'cancel',
      },
    },
  },
  groups: { groups: { eu: { region: 'eu-1' }, us: { region: 'us-1' } }, steps: { only: waits('go') } },
  scored: {
    evaluation: 'score',
    steps: { work: waits('go'), more: { type: 'script', run: 'echo more', needs: ['work'] } },
  },
  score: {
    of: 'run',
    steps: {
      read: { type: 'script', run: ['echo', 'of {{of.outcome}} {{of.runId}} in {{of.directory}}'] },
    },
  },
  open: {
    steps: {
      tell: { type: 'agent', agent: 'shell', prompt: `echo "$STEMMA_TOKEN" > inside; ${gate('go')}; exit 0` },
    },
  },
};

const launches = (tool: string, args: object): Action => ({ call: tool, with: args });
const told = (name: string): string => noticeOf(name, '\\S+');

/** Five sub-agents: the third fails when the scene says so, the others never end by themselves. */
const fiveHands = ['one', 'two', 'three', 'four', 'five'].map((name) =>
  launches('call_sub_agent', {
    agent: 'hand',
    name,
    instruction:
      name === 'three'
        ? `${gate('fail')}; echo the disk is full >&2; exit 7`
        : `echo $$ > leaf-${name}; exec sleep 600`,
  }),
);

/** The agent that launches them, and that works in their steps. */
export const launcherAgent: ScriptedAgent = {
  rules: [
    on('^Workflow (\\w+)', launches('run_full_workflow', { workflow: '{{1}}' }), say('Started.')),
    on(
      '^Step (\\w+)/(\\w+)',
      launches('execute_step', { workflow: '{{1}}', step: '{{2}}' }),
      say('Started.'),
    ),
    on('^Evaluate (\\w+)', launches('run_full_evaluation', { workflow: '{{1}}' }), say('Asked.')),
    on('^Review what a run', say('Well done.')),
    on('^Review (\\w+)', launches('start_review', { kind: '{{1}}' }), say('Asked.')),
    on(
      '^Delegate',
      launches('run_in_background', { name: 'helper', instruction: gate('help'), agent: 'shell' }),
      say('Delegated.'),
    ),
    on(
      '^In the background',
      launches('run_in_background', { name: 'bg', instruction: 'Workflow five' }),
      say('Started.'),
    ),
    on('^Five at once', parallel(...fiveHands), say('Given out.')),
    on(noticeOf('three', 'failed'), say('[stemma failed] three of five could not be done')),
    on(told('helper'), say('Handled the helper.')),
    on('^Cry wolf', say('ERROR: this is only a text. context canceled')),
    on('^Stay', until('never')),
    on(told('.*'), say('Noted.')),
  ],
};
