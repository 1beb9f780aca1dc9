import type { Action, ScriptedAgent } from './script-words.ts';
import { on, parallel, say } from './script-words.ts';

/** A shell command that leaves a line, and then does the rest. */
export const did = (name: string, rest = 'true'): string => `echo ${name} >> ran; ${rest}`;
const give = (name: string, instruction: string, agent = 'hand'): Action => ({
  call: 'call_sub_agent',
  with: { agent, name, instruction },
});
const batchWith = (name: string, how: string): string => `^\\[stemma batch, [^]*\\] ${name} ${how} `;

/** Prompts are answered by a program that begins anew for each, and writes down what it was told. */
const scribe = `p=$(cat); first=$(printf '%s' "$p" | head -n 1)
printf '%s\\n' "$first" >> told
case "$first" in
  *repair*) echo good > report.md;;
  "Write a report"*) echo bad > report.md;;
  *broken*) test -e mended || { echo "I looked."; echo "[stemma failed] it is broken"; exit 0; };;
esac
echo "Did: $first"`;

/** The agents that do the steps. */
export const stepAgents: Readonly<Record<string, ScriptedAgent>> = {
  scribe: { rules: [], profile: { driver: 'script', command: ['/bin/sh', '-c', scribe] } },
  worker: {
    rules: [
      on('^Workflow (\\w+)', { call: 'run_full_workflow', with: { workflow: '{{1}}' } }, say('Started.')),
      on(
        '^Step (\\w+)/(\\w+)',
        { call: 'execute_step', with: { workflow: '{{1}}', step: '{{2}}' } },
        say('Started.'),
      ),
      on(
        '^Look at (\\w+)',
        { call: 'run_full_workflow', with: { workflow: '{{1}}' }, saveAs: 'run' },
        { call: 'start_review', with: { kind: 'general', run: '{{run.executionId}}' } },
        say('Started.'),
      ),
      on('^Review what', say('All is well.')),
      on('^Review (\\w+)', { call: 'start_review', with: { kind: '{{1}}' } }, say('Asked.')),
      on('^Evaluate (\\w+)', { call: 'run_full_evaluation', with: { workflow: '{{1}}' } }, say('Asked.')),
      on(
        '^Give out',
        parallel(
          give('one', did('one')),
          give('two', did('two', 'echo no room; exit 3')),
          give('three', did('three')),
        ),
        say('Given out.'),
      ),
      on(batchWith('two', 'failed'), give('two', did('again')), say('Once more.')),
      on('^Nest', give('left', did('left')), give('lead', 'Lead on.', 'lead'), say('Given out.')),
      on('^Lead on', parallel(give('deep', did('deep')), give('deeper', did('deeper'))), say('Led.')),
      on('^\\[stemma batch, ', say('All is there.')),
      on('^\\[stemma ntc_', say('Noted.')),
      on('^Which', say('big')),
      on('^Say (\\w+)', say('{{1}}')),
    ],
  },
};
