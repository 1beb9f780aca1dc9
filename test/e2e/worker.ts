import { gate, launch, noticeOf, on, parallel, say, type ScriptedAgent, until } from './script-words.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/**
 * The agent of all tests that want a well-behaved one. Whatever it starts waits for a file of the scene, so that a test
 * says when things happen: `go` for what it launches first, `hold` for its own turn.
 */
export const worker: ScriptedAgent = {
  rules: [
    on('^Start a job', launch('job', gate('go')), say('Started.')),
    on('^Start another', launch('other', gate('other')), say('Also started.')),
    on('^Start a chain', launch('first', 'echo done'), say('Started.')),
    on(noticeOf('first'), launch('second', 'echo done too'), say('The second.')),
    on('^Start three', parallel(...['a', 'b', 'c'].map((name) => launch(name, gate('go')))), until('hold')),
    on('^Start many', parallel(...numbers(25).map((n) => launch(`job-${n}`, `echo ${n}`))), until('hold')),
    on('^Try', launch('flaky', 'echo the port is busy; exit 3'), say('Tried.')),
    on(noticeOf('flaky', 'failed'), launch('flaky', gate('retry')), say('Once more.')),
    on('^Delegate', launch('doomed', 'echo no; exit 1'), say('Delegated.')),
    on('^Stay', until('hold'), say('Stayed.')),
    on('^Launch and stay', launch('job', gate('go')), until('never')),
  ],
};
