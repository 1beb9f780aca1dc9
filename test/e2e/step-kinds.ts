import type { WorkflowFiles } from './bench.ts';
import { did } from './step-agents.ts';

/** A kind of step in a workflow that ends by itself, and what has been done when it has. */
export interface StepKind {
  readonly name: string;
  /** The first one is begun, by a person. */
  readonly workflows: WorkflowFiles;
  /** What an agent is told instead, which begins it by one of its tools. */
  readonly asks?: string;
  /** Files that are there before, with their texts. */
  readonly files?: Readonly<Record<string, string>>;
  /** What a person answers when it asks. */
  readonly answers?: string;
  /** The run has failed, this file is made, and it goes on; the server is killed from here on only. */
  readonly mended?: { readonly file: string; readonly by: 'resumeRun' | 'rerunRun'; readonly body: object };
  /** Its agent calls tools. A call that is under way when the server dies has failed for the agent, which goes on without. */
  readonly calls?: true;
  readonly outcome: 'succeeded' | 'failed';
  /** What its shell commands have done, each once, sorted. */
  readonly ran: readonly string[];
}

/** True but for that many times that such a line was left. */
const unless = (name: string, times: number): string => `test $(grep -c '^${name}$' ran) -ne ${times}`;

const hand = { agent: 'shell', description: 'runs a command' };
const gives = { type: 'todo', agent: 'worker', onChildFailure: 'wait' };
const gate = { validate: did('gate', unless('gate', 2)), repairs: 2 };
const rows = (foreach: object, more: object = {}): WorkflowFiles[string] => ({
  steps: { write: { agent: 'worker', foreach, messages: ['Say {{row.title}}.', gate], ...more } },
});
const gates = ['gate', 'gate', 'gate', 'gate'];
const list = JSON.stringify([{ title: 'a' }, { title: 'b' }, { title: 'c' }]);
const count = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };

/** Every kind of step, in the least workflow that has all there is to it. */
export const stepKinds: readonly StepKind[] = [
  {
    name: 'script',
    workflows: {
      scripts: {
        steps: {
          first: { run: did('first', 'echo one') },
          flaky: {
            needs: ['first'],
            run: did('flaky', '[ -e second ] || { touch second; exit 1; }'),
            retry: { max: 1, backoff: '10ms' },
          },
          list: {
            needs: ['first'],
            run: ['sh', '-c', did('list', 'echo "$1"'), '-', '{{steps.first.result}}'],
          },
          left: {
            needs: ['flaky', 'list'],
            run: did('left', `echo text > report.md; echo '{"n":1}' > data.json`),
            outputs: {
              report: { file: 'report.md' },
              data: { json: 'data.json', schema: count },
              looks: { command: did('looks', 'echo fine') },
            },
          },
        },
        outputs: { looks: '{{steps.left.outputs.looks}}' },
      },
    },
    outcome: 'succeeded',
    ran: ['first', 'flaky', 'flaky', 'left', 'list', 'looks'],
  },
  {
    name: 'failure',
    workflows: {
      fails: {
        failFast: true,
        steps: {
          first: { run: did('first') },
          bad: { needs: ['first'], run: did('bad', 'echo no room; exit 3') },
          long: { run: did('long', 'exec sleep 600') },
          never: { needs: ['bad'], run: did('never') },
        },
      },
    },
    outcome: 'failed',
    ran: ['bad', 'first', 'long'],
  },
  {
    name: 'agent',
    workflows: {
      report: {
        steps: {
          write: {
            agent: 'scribe',
            prompt: 'Write a report.',
            outputs: {
              report: { file: 'report.md' },
              looks: { command: did('looks', 'grep good report.md') },
            },
            repairs: 1,
          },
          tell: { needs: ['write'], agent: 'worker', prompt: 'Say {{steps.write.outputs.looks}}.' },
        },
      },
    },
    outcome: 'succeeded',
    ran: ['looks', 'looks'],
  },
  {
    name: 'sequence',
    workflows: {
      talk: {
        steps: {
          talk: {
            agent: 'worker',
            messages: ['Say one.', gate, 'Say two {{previous.result}}.', gate, 'Say three.'],
          },
        },
      },
    },
    outcome: 'succeeded',
    ran: ['gate', 'gate', 'gate'],
  },
  {
    name: 'csv',
    workflows: { csv: rows({ csv: 'rows.csv' }) },
    files: { 'rows.csv': 'title\na\nb\nc\n' },
    outcome: 'succeeded',
    ran: gates,
  },
  {
    name: 'json',
    workflows: {
      json: rows(
        { json: 'rows.json' },
        { outputs: { all: { command: did('all', 'echo fine') }, said: { answer: true } } },
      ),
    },
    files: { 'rows.json': list },
    outcome: 'succeeded',
    ran: ['all', ...gates],
  },
  {
    name: 'command',
    workflows: { command: rows({ command: did('rows', `echo '${list}'`) }) },
    outcome: 'succeeded',
    ran: [...gates, 'rows'],
  },
  {
    name: 'todo',
    calls: true,
    workflows: { todo: { steps: { plan: { ...gives, prompt: 'Give out the work.', agents: { hand } } } } },
    outcome: 'succeeded',
    ran: ['again', 'one', 'three', 'two'],
  },
  {
    name: 'nested todo',
    calls: true,
    workflows: {
      nest: {
        steps: {
          plan: {
            ...gives,
            prompt: 'Nest it.',
            agents: { hand, lead: { agent: 'worker', description: 'leads', agents: { hand } } },
          },
        },
      },
    },
    outcome: 'succeeded',
    ran: ['deep', 'deeper', 'left'],
  },
  {
    name: 'route',
    workflows: {
      route: {
        steps: {
          which: { type: 'route', agent: 'worker', prompt: 'Which?', cases: { big: ['a'], small: ['b'] } },
          a: { needs: ['which'], run: did('a', 'echo yes') },
          b: { needs: ['which'], run: did('b') },
          value: {
            type: 'route',
            needs: ['a'],
            value: '{{steps.a.result}}',
            cases: { yes: ['c'], no: ['d'] },
          },
          c: { needs: ['value'], run: did('c') },
          d: { needs: ['value'], run: did('d') },
          after: { needs: ['b', 'c', 'd'], when: '{{steps.b.state}} == "skipped"', run: did('after') },
        },
      },
    },
    outcome: 'succeeded',
    ran: ['a', 'after', 'c'],
  },
  {
    name: 'human',
    workflows: {
      human: {
        steps: {
          before: { run: did('before') },
          ask: { needs: ['before'], question: 'Publish it?', choices: ['yes', 'no'], declines: ['no'] },
          publish: {
            needs: ['ask'],
            run: ['sh', '-c', did('publish', 'echo "$1"'), '-', '{{steps.ask.result}}'],
          },
        },
      },
    },
    answers: 'yes',
    outcome: 'succeeded',
    ran: ['before', 'publish'],
  },
  {
    name: 'workflow',
    workflows: {
      outer: {
        steps: {
          first: { run: did('first', 'echo one') },
          inner: { needs: ['first'], workflow: 'inner', inputs: { what: '{{steps.first.result}}' } },
          groups: { workflow: 'grouped', group: 'eu' },
          last: { needs: ['inner', 'groups'], run: did('last') },
        },
      },
      inner: {
        inputs: { what: {} },
        steps: {
          told: { agent: 'worker', prompt: 'Say {{inputs.what}}.' },
          last: { needs: ['told'], run: did('inner', 'echo "$INPUT_WHAT"') },
        },
      },
      grouped: {
        groups: { eu: { region: 'eu-1' }, us: { region: 'us-1' } },
        steps: { only: { run: 'echo "$GROUP_REGION" >> ran' } },
      },
    },
    outcome: 'succeeded',
    ran: ['eu-1', 'first', 'inner', 'last'],
  },
  {
    name: 'groups',
    workflows: {
      both: {
        groups: { eu: { region: 'eu-1' }, us: { region: 'us-1' } },
        steps: {
          here: { run: 'echo "$GROUP_REGION" >> ran' },
          there: { needs: ['here'], agent: 'worker', prompt: 'Say {{group.region}}.' },
        },
      },
    },
    outcome: 'succeeded',
    ran: ['eu-1', 'us-1'],
  },
  {
    name: 'evaluation',
    workflows: {
      scored: { evaluation: 'score', steps: { work: { run: did('work') } } },
      score: {
        of: 'run',
        steps: { read: { run: ['sh', '-c', did('read', 'echo "$1"'), '-', '{{of.outcome}}'] } },
      },
    },
    outcome: 'succeeded',
    ran: ['read', 'work'],
  },
  {
    name: 'resume',
    workflows: {
      resumed: {
        steps: {
          first: { run: did('first') },
          write: {
            needs: ['first'],
            agent: 'scribe',
            foreach: { csv: 'rows.csv' },
            messages: ['Do {{row.title}}.', { validate: did('gate'), repairs: 1 }],
          },
          last: { needs: ['write'], run: did('last') },
        },
      },
    },
    files: { 'rows.csv': 'title\na\nbroken\nc\n' },
    mended: { file: 'mended', by: 'resumeRun', body: {} },
    outcome: 'succeeded',
    ran: ['first', 'gate', 'gate', 'gate', 'last'],
  },
  {
    name: 'rerun',
    workflows: {
      again: {
        steps: {
          first: { run: did('first') },
          second: { needs: ['first'], run: did('second', 'test -e mended') },
          third: { needs: ['second'], run: did('third') },
        },
      },
    },
    mended: { file: 'mended', by: 'rerunRun', body: { from: 'second' } },
    outcome: 'succeeded',
    ran: ['first', 'second', 'second', 'third'],
  },
  {
    name: 'launched',
    calls: true,
    asks: 'Workflow launched',
    workflows: {
      launched: {
        evaluation: 'scores',
        steps: {
          work: { run: did('work') },
          talk: { needs: ['work'], agent: 'worker', prompt: 'Step single/only' },
        },
      },
      single: { steps: { only: { run: did('only') } } },
      scores: { of: 'run', steps: { read: { run: did('read') } } },
    },
    outcome: 'succeeded',
    ran: ['only', 'read', 'work'],
  },
  {
    name: 'review',
    calls: true,
    asks: 'Look at reviewed',
    workflows: { reviewed: { steps: { work: { run: did('work', 'sleep 0.2') } } } },
    outcome: 'succeeded',
    ran: ['work'],
  },
];
