import type { OutputInput } from '../contract/workflow-parts.ts';
import type { StepInput, StepInputs } from '../contract/workflow-steps.ts';
import type { SubAgentInput } from '../contract/workflow-todo.ts';

/** A text of a step, with the way to it from the step, and what it is: a text with templates, a condition, or for a shell. */
export interface SaidText {
  readonly path: readonly (string | number)[];
  readonly text: string;
  readonly as: 'text' | 'condition' | 'shell';
  /** Where it stands in a sequence: with `{{previous.result}}`, and with `{{row.COLUMN}}` if there are rows. */
  readonly of?: 'message' | 'messageOfRow';
}

/** Every text of a step that has templates, or that may have none because it goes to a shell. */
export function saidTexts(step: StepInput): SaidText[] {
  const { said } = step;
  return [
    ...text(['when'], said.when, 'condition'),
    ...('outputs' in said ? outputTexts(said.outputs ?? {}) : []),
    ...('cwd' in said ? text(['cwd'], said.cwd) : []),
    ...ownTexts(step),
  ];
}

function ownTexts(step: StepInput): SaidText[] {
  switch (step.type) {
    case 'script':
      return scriptTexts(step.said);
    case 'agent':
      return text(['prompt'], step.said.prompt);
    case 'sequence':
      return sequenceTexts(step.said);
    case 'todo':
      return [...text(['prompt'], step.said.prompt), ...agentTexts(step.said.agents ?? {}, ['agents'])];
    case 'route':
      return [...text(['prompt'], step.said.prompt), ...text(['value'], step.said.value)];
    case 'human':
      return text(['question'], step.said.question);
    case 'workflow':
      return [
        ...text(['group'], step.said.group),
        ...Object.entries(step.said.inputs ?? {}).flatMap(([name, value]) => text(['inputs', name], value)),
      ];
  }
}

function scriptTexts({ run, env = {} }: StepInputs['script']): SaidText[] {
  const command =
    typeof run === 'string'
      ? text(['run'], run, 'shell')
      : run.flatMap((argument, index) => text(['run', index], argument));
  return [...command, ...Object.entries(env).flatMap(([name, value]) => text(['env', name], value))];
}

function sequenceTexts({ foreach, messages }: StepInputs['sequence']): SaidText[] {
  const of = foreach === undefined ? 'message' : 'messageOfRow';
  const rows = Object.entries(foreach ?? {}).flatMap(([key, value]) =>
    typeof value === 'string' ? text(['foreach', key], value, key === 'command' ? 'shell' : 'text') : [],
  );
  const ofMessages = messages.flatMap((message, index): SaidText[] => {
    const at = ['messages', index] as const;
    const told = (key: string, said: string | undefined, as?: SaidText['as']): SaidText[] =>
      text([...at, key], said, as).map((each) => ({ ...each, of }));
    if ('validate' in message)
      return [...told('validate', message.validate, 'shell'), ...told('say', message.say)];
    return [...told('text', message.text), ...told('check', message.check, 'shell')];
  });
  return [...rows, ...ofMessages];
}

function agentTexts(agents: Readonly<Record<string, SubAgentInput>>, path: readonly string[]): SaidText[] {
  return Object.entries(agents).flatMap(([name, agent]) => [
    ...text([...path, name, 'prompt'], agent.prompt),
    ...text([...path, name, 'cwd'], agent.cwd),
    ...agentTexts(agent.agents ?? {}, [...path, name, 'agents']),
  ]);
}

function outputTexts(outputs: Readonly<Record<string, OutputInput>>): SaidText[] {
  return Object.entries(outputs).flatMap(([name, output]) => {
    const at = ['outputs', name];
    if ('command' in output) return text([...at, 'command'], output.command, 'shell');
    if ('file' in output) return text([...at, 'file'], output.file);
    return 'json' in output ? text([...at, 'json'], output.json) : [];
  });
}

function text(
  path: readonly (string | number)[],
  said: string | undefined,
  as: SaidText['as'] = 'text',
): SaidText[] {
  return said === undefined ? [] : [{ path, text: said, as }];
}
