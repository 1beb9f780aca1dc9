import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkWorkflow } from './check.ts';
import { outlineOf, type WorkflowFacts } from './facts.ts';
import { readWorkflowFile } from './read-file.ts';

const other = (text: string) => outlineOf(readWorkflowFile(parse(text)));
const facts: WorkflowFacts = {
  name: 'nightly',
  agents: ['codex', 'demo'],
  refusalOfBudget: (agent) => (agent === 'demo' ? 'demo tells nothing of its usage.' : undefined),
  workflows: new Map([
    ['nightly', other('steps: {a: {run: x}}')],
    ['score', other('of: run\nsteps: {a: {run: x}}')],
    [
      'needy',
      other('inputs: {day: {required: true}}\ngroups: {eu: {}}\noutputs: {report: x}\nsteps: {a: {run: x}}'),
    ],
    ['back', other('steps: {a: {workflow: nightly}}')],
  ]),
};
/** What is wrong, each as `key: message`. */
const mistakes = (text: string) =>
  checkWorkflow(readWorkflowFile(parse(text)), facts).map(
    ({ path, message, unknownKeys }) =>
      `${path.join('.')}: ${unknownKeys.length > 0 ? unknownKeys.join() : message}`,
  );

const whole = `
description: everything that can be said
agent: codex
cwd: "{{group.dir}}"
timezone: Europe/Berlin
timeout: 4h
inputs: { day: { type: string, default: "{{date}}" }, mode: { enum: [full, fast], default: full } }
groups: { eu: { dir: a }, us: { dir: b } }
env: { DAY: "{{inputs.day}}" }
evaluation: score
budget: { usd: 5 }
outputs: { report: "{{steps.publish.outputs.report}}" }
steps:
  fetch: { run: "git fetch -q && echo $INPUT_DAY && docker ps --format '{{.Names}}'", env: { N: 1 }, retry: { max: 2, backoff: 1s } }
  list: { run: [echo, "{{inputs.day}}"], outputs: { all: { answer: true, schema: { type: array } } } }
  fix: { needs: [fetch], prompt: "Fix {{inputs.day}}", repairs: 2, outputs: { data: { json: data.json, schema: { type: object } }, ok: { command: npm test } } }
  write:
    needs: [list]
    foreach: { command: "cat rows", timeout: 1m }
    messages:
      - "Write {{row.title}} after {{previous.result ?? 'nothing'}}"
      - { validate: "test -s out.md", repairs: 2, say: "Mend {{row.title}} of {{inputs.day}}" }
      - { text: "{{row}}", timeout: 5m, check: "true" }
  plan: { type: todo, needs: [fix], prompt: "{{steps.fix.outputs.data.list[0]}}", agents: { coder: { description: codes, agents: { helper: {} } } } }
  choose: { type: route, needs: [fix], value: "{{inputs.mode}}", cases: { full: [publish], fast: [] }, otherwise: full }
  approve: { needs: [plan], question: "Publish {{steps.plan.result}}?", choices: [yes!, no!], declines: [no!], otherwise: no!, timeout: 1h }
  publish: { needs: [approve], when: "{{steps.approve.result}} == 'yes!'", run: publish, outputs: { report: { file: report.md } } }
  again: { workflow: needy, group: eu, inputs: { day: "{{inputs.day}}" } }
  asked: { needs: [approve], when: "{{steps.approve.outputs.answer}} != 'no!'", run: [echo, "{{steps.approve.outputs.answer}}"] }
  last: { needs: [again], run: [echo, "{{steps.again.outputs.report}}"] }
`;

describe('the check of a workflow', () => {
  it('has nothing to say of one that is right', () => {
    expect(mistakes(whole)).toEqual([]);
  });

  it.each([
    [
      'steps: {a: {run: x, needs: [fetsh]}, fetch: {run: x}}',
      'steps.a.needs.0: there is no step "fetsh"; did you mean "fetch"?',
    ],
    ['steps: {a: {run: x}, __proto__: {run: x}}', 'steps.__proto__: can be no name; use another one'],
    ['inputs: {__proto__: {}}\nsteps: {a: {run: x}}', 'inputs.__proto__: can be no name; use another one'],
    ['steps: {a: {run: x, needs: [a]}}', 'steps.a.needs.0: a step cannot need itself'],
    ['steps: {}', 'steps: needs at least one step'],
    [
      `groups: {${Array.from({ length: 501 }, (_, index) => `g${index}: {}`).join(', ')}}\nsteps: {a: {run: x}}`,
      'groups: must be at most 500 groups',
    ],
    ['agent: codx\nsteps: {a: {prompt: x}}', 'agent: there is no agent "codx"; did you mean "codex"?'],
    ['steps: {a: {prompt: x}}', 'steps.a: has no agent; say which here, or at the top of the file'],
    [
      'agent: demo\nsteps: {a: {prompt: x, budget: {usd: 1}}}',
      'steps.a.budget: demo tells nothing of its usage',
    ],
    ['steps: {a: {promt: x}}', 'steps.a: promt'],
    [
      'steps: {a: {type: agnt, prompt: x}}',
      'steps.a.type: expected one of script, agent, sequence, todo, route, human, workflow',
    ],
    ['steps: {a: {run: x, tiemout: 3s}}', 'steps.a: tiemout'],
    ['steps: {a: null}', 'steps.a: expected a mapping (key: value), found nothing'],
    [
      'steps: {a: {run: [echo, "{{inputs.day}}"]}}',
      'steps.a.run.1: {{inputs.day}}: there is no input "day"; there are none',
    ],
    [
      'inputs: {days: {}}\nsteps: {a: {run: [echo, "{{inputs.day}}"]}}',
      'steps.a.run.1: {{inputs.day}}: there is no input "day"; did you mean {{inputs.days}}?',
    ],
    [
      'inputs: {day: {}}\nsteps: {a: {run: "echo {{inputs.day}}"}}',
      'steps.a.run: {{inputs.day}} is not filled in here, since this goes to a shell; write "$INPUT_DAY"',
    ],
    [
      'steps: {b: {run: x}, a: {needs: [b], run: "echo {{steps.b.result}}"}}',
      'steps.a.run: {{steps.b.result}} is not filled in here, since this goes to a shell; give it as a variable, as in env: { VALUE: "{{…}}" }, and write "$VALUE"',
    ],
    [
      'groups: {eu: {dir: a}}\nagent: codex\nsteps: {a: {messages: [x, {validate: "test {{group.dir}}"}]}}',
      'steps.a.messages.1.validate: {{group.dir}} is not filled in here, since this goes to a shell; write "$GROUP_DIR"',
    ],
    [
      'agent: codex\nsteps: {a: {foreach: {csv: a.csv}, messages: [x, {validate: "test -s {{row.short_title}}"}]}}',
      'steps.a.messages.1.validate: {{row.short_title}} is not filled in here, since this goes to a shell; write "$ROW_SHORT_TITLE"',
    ],
    [
      'groups: {eu: {dir: a}, us: {}}\nsteps: {a: {run: [x, "{{group.dir}}"]}}',
      'steps.a.run.1: {{group.dir}}: the group "us" has no "dir"',
    ],
    [
      'steps: {a: {run: [x, "{{steps.b.result}}"]}, b: {run: x}}',
      'steps.a.run.1: {{steps.b.result}}: "b" need not have ended before "a" begins; add it to the needs of "a"',
    ],
    [
      'steps: {a: {run: [x, "{{steps.bb.result}}"]}, b: {run: x}}',
      'steps.a.run.1: {{steps.bb.result}}: there is no step "bb"; did you mean {{steps.b}}?',
    ],
    [
      'outputs: {r: "{{steps.a.outputs.reprt}}"}\nsteps: {a: {run: x, outputs: {report: {file: r.md}}}}',
      'outputs.r: {{steps.a.outputs.reprt}}: nobody makes it: step "a" has no output "reprt"; did you mean "report"?',
    ],
    ['steps: {a: {run: x, when: "{{inputs.x}} ="}}', 'steps.a.when: write "==" to compare'],
    ['steps: {a: {run: x, when: "1 == 2"}}', 'steps.a.when: never holds, so that the step never runs'],
    [
      'steps: {a: {type: route, value: big, cases: {big: [], small: [b]}}, b: {run: x}}',
      'steps.b: never runs: none of the cases that "a" can come to has it',
    ],
    [
      'steps: {a: {type: route, value: x, cases: {big: [publish]}}, b: {run: x}}',
      'steps.a.cases.big.0: there is no step "publish"; there are a, b',
    ],
    [
      'steps: {a: {type: route, value: x, cases: {big: []}, otherwise: bog}}',
      'steps.a.otherwise: there is no case "bog"; did you mean "big"?',
    ],
    [
      'steps: {a: {question: x, choices: [ja, no], declines: [nö]}}',
      'steps.a.declines.0: there is no choice "nö"; did you mean "no"?',
    ],
    [
      'steps: {a: {question: x, otherwise: ja}}',
      'steps.a.otherwise: is never used: without timeout the question waits for as long as it takes',
    ],
    [
      'steps: {a: {workflow: neddy}}',
      'steps.a.workflow: there is no workflow "neddy"; did you mean "needy"?',
    ],
    ['steps: {a: {workflow: needy}}', 'steps.a.workflow: "needy" must be given the input "day"'],
    [
      'steps: {a: {workflow: needy, group: ei, inputs: {day: x}}}',
      'steps.a.group: "needy" has no group "ei"; did you mean "eu"?',
    ],
    [
      'steps: {a: {workflow: needy, inputs: {day: x, dya: y}}}',
      'steps.a.inputs.dya: "needy" has no input "dya"; did you mean "day"?',
    ],
    [
      'steps: {a: {workflow: nightly}}',
      'steps.a.workflow: these workflows begin each other in a circle: nightly, nightly',
    ],
    [
      'steps: {a: {workflow: back}}',
      'steps.a.workflow: these workflows begin each other in a circle: nightly, back, nightly',
    ],
    [
      'steps: {a: {workflow: score}}',
      'steps.a.workflow: "score" is an evaluation; it is named by "evaluation", and begun when a run is closed',
    ],
    [
      'evaluation: needy\nsteps: {a: {run: x}}',
      'evaluation: "needy" is no evaluation; its file would say "of: run"',
    ],
    [
      'evaluation: scor\nsteps: {a: {run: x}}',
      'evaluation: there is no workflow "scor"; did you mean "score"?',
    ],
    [
      'steps: {a: {run: [x, "{{of.result}}"]}}',
      'steps.a.run.1: {{of.result}}: nothing is scored here; an evaluation says "of: run"',
    ],
    [
      'agent: codex\nsteps: {a: {messages: ["{{row.x}}"]}}',
      'steps.a.messages.0.text: {{row.x}}: rows are for messages of a step with foreach',
    ],
    [
      'agent: codex\nsteps: {a: {messages: [{validate: "true"}, x]}}',
      'steps.a.messages.0: there is no message before it that it could be for',
    ],
    [
      'inputs: {n: {type: number, default: x}}\nsteps: {a: {run: x}}',
      'inputs.n.default: expected a number, as the type says',
    ],
    ['inputs: {n: {enum: [a], default: b}}\nsteps: {a: {run: x}}', 'inputs.n.default: is none of a'],
    ['inputs: {n: {}, N: {}}\nsteps: {a: {run: x}}', 'inputs.N: is INPUT_N in a shell, as "n" is'],
    [
      'steps: {a b: {run: x}}',
      'steps.a b: is no name here; use letters, digits, "_" and "-", beginning with a letter',
    ],
    [
      'agent: codex\nsteps: {a: {prompt: x, repairs: 2}}',
      'steps.a.repairs: there is nothing to repair: the step has no outputs',
    ],
  ])('%s', (text, message) => {
    expect(mistakes(text)).toEqual([message]);
  });

  it('names the steps of a circle, once', () => {
    const [found, ...more] = mistakes(
      'steps: {a: {run: x, needs: [c]}, b: {run: x, needs: [a]}, c: {run: x, needs: [b]}, d: {run: x, needs: [a]}}',
    );
    expect(found).toBe(
      'steps.a.needs.0: these steps need each other in a circle, and none of them can begin: "a" needs "c" needs "b" needs "a"',
    );
    expect(more).toEqual([]);
  });

  it('finds a circle that goes through a route', () => {
    const found = mistakes('steps: {a: {type: route, value: x, needs: [b], cases: {x: [b]}}, b: {run: x}}');
    expect(found).toEqual([
      'steps.a.needs.0: these steps need each other in a circle, and none of them can begin: "a" needs "b" needs "a"',
    ]);
  });

  it('tells everything at once, and nothing that only follows from a mistake', () => {
    const text = `
agent: codx
timeout: soon
inputs: 3
steps:
  a: { run: x, outputs: { r: { fil: x } } }
  b: { needs: [a], run: [echo, "{{steps.a.outputs.r}}", "{{inputs.day}}"] }
  c: { prompt: "{{step.b.result}}", needs: [bb] }
`;
    expect(mistakes(text).map((line) => line.split(':')[0])).toEqual([
      'timeout',
      'inputs',
      'steps.a.outputs.r.file',
      'steps.a.outputs.r',
      'steps.c.needs.0',
      'agent',
      'steps.c.prompt',
    ]);
  });

  it('is bounded, and ends for a value that contains itself', () => {
    const circle: Record<string, unknown> = { steps: {} };
    (circle['steps'] as Record<string, unknown>)['a'] = circle;
    expect(readWorkflowFile(circle).issues[0]?.message).toBe('is nested too deeply, or contains itself');
    const many = Object.fromEntries(
      Array.from({ length: 4_000 }, (_, at) => [`s${at}`, { run: 'x', needs: ['gone'] }]),
    );
    expect(checkWorkflow(readWorkflowFile({ steps: many }), facts)).toHaveLength(100);
    for (const raw of [null, [], 'x', 3, { steps: [] }, { steps: 'x' }])
      expect(checkWorkflow(readWorkflowFile(raw), facts).length, JSON.stringify(raw)).toBeGreaterThan(0);
  });

  it('reads a chain of thousands of steps', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 4_000 }, (_, at) => [
        `s${at}`,
        at === 0 ? { run: 'x' } : { run: ['x', '{{steps.s0.result}}'], needs: [`s${at - 1}`] },
      ]),
    );
    expect(checkWorkflow(readWorkflowFile({ steps: chain }), facts)).toEqual([]);
  });
});
