import {
  type Action,
  gate,
  launch,
  noticeOf,
  on,
  once,
  parallel,
  type Rule,
  say,
  type ScriptedAgent,
  until,
} from './script-words.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** A shell command that tells its process and never ends by itself. */
const forEver = 'echo $$ > leaf; exec sleep 600';

/** What the conversation has cost so far, in US dollars. */
const spend = (usd: number): Action => ({
  update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: usd, currency: 'USD' } },
});

/** Whatever it starts waits for a file of the scene: `go` for what it launches first, `hold` for its own turn. */
const work: readonly Rule[] = [
  on('^Start a job', launch('job', gate('go')), say('Started.')),
  on('^Start another', launch('other', gate('other')), say('Also started.')),
  on('^Start a chain', launch('first', 'echo done'), say('Started.')),
  on(noticeOf('first'), launch('second', 'echo done too'), say('The second.')),
  on('^Start three', parallel(...['a', 'b', 'c'].map((name) => launch(name, gate('go')))), until('hold')),
  on('^Start many', parallel(...numbers(25).map((n) => launch(`job-${n}`, `echo ${n}`))), until('hold')),
  on('^Try', launch('flaky', 'echo the port is busy; exit 3'), say('Tried.')),
  on(noticeOf('flaky', 'failed'), launch('flaky', gate('retry')), say('Once more.')),
  on('^Start something fragile', launch('fragile', 'echo precious'), say('Started.')),
  on('^Start a mortal', launch('mortal', 'echo alive; kill -9 $$'), say('Started.')),
  on('^Delegate', launch('doomed', 'echo no; exit 1'), say('Delegated.')),
  on('^Stay', until('hold'), say('Stayed.')),
  on('^Launch and stay', launch('job', gate('go')), until('never')),
  on('^Nest', launch('child', 'Go deeper.', 'worker'), say('Started.')),
  on('^Go deeper', launch('grandchild', forEver), say('Deeper.')),
  on('^Spend half', spend(0.5), launch('child', 'Spend nothing.', 'worker'), say('Started.')),
  on('^Spend nothing', launch('grandchild', 'Spend more.', 'worker'), say('Deeper.')),
  on('^Spend more', say('I begin.'), until('spend'), spend(0.6), until('never')),
  on('^Pay a little', spend(0.6), say('Paid.')),
  on('^Pay more', spend(1.2), say('Paid again.')),
  on('^Grow a leaf', launch('leaf', forEver), until('never')),
];

const toolUpdate = (sessionUpdate: string, status: string): Action => ({
  update: { sessionUpdate, toolCallId: 'tool-1', title: 'npm test', kind: 'execute', status },
});

/** What no agent should do. */
const misbehaviour: readonly Rule[] = [
  on('^Hang', { hang: true }),
  on('^Misbehave: late', say('Done.'), {
    later: [say('One more thing.'), { call: 'list_executions' }, until('later')],
    afterMs: 50,
  }),
  on('^Misbehave: twice', say('Done.'), { respond: 'end_turn' }),
  on(
    '^Misbehave: pending',
    say('All done!'),
    toolUpdate('tool_call', 'pending'),
    until('go'),
    toolUpdate('tool_call_update', 'completed'),
    say('Now it is.'),
  ),
  on(
    '^Misbehave: garbage',
    { garbage: 'DEBUG: tokens=17' },
    { garbage: '{"jsonrpc":"2.0","id":' },
    say('Done.'),
  ),
  on('^Misbehave: big', { bigLine: 4 * 1024 * 1024 }),
  on('^Misbehave: error', say('completed: ERROR in line 3, the word error changes nothing')),
  on('^Misbehave: die', say('Goodbye.'), { kill: true }),
  on('^Misbehave: leave', { exit: 0 }),
  on('^Misbehave: ask', { ask: 'May I delete it?', allowed: [say('Gone.')], denied: [say('I left it.')] }),
  once(noticeOf('fragile'), say('Let me see.'), { kill: true }),
];

/** The one agent of these tests: each prompt says what it shall do, so that tests can follow each other in a session. */
export const worker: ScriptedAgent = { rules: [...work, ...misbehaviour], profile: { usage: 'reported' } };
