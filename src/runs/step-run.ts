import type { OutputPlan, Gate, TextMessage } from '../ledger/planned-message.ts';
import { failureMark } from '../ledger/gate.ts';
import { defaultTimeoutMs } from '../ledger/registration.ts';
import type { PlannedMessage } from '../ledger/session.ts';
import type { RowsPlan, StepPlan } from '../ledger/step-plan.ts';
import { withSubAgents } from '../workflows/orchestrator-text.ts';

/** The run that is the program of a step: its messages, and where their rows come from. */
export interface StepRun {
  /** Their templates are filled in when each of them is sent. */
  readonly plan: readonly PlannedMessage[];
  /** Null: the messages are sent once. */
  readonly rowsFrom: RowsPlan | null;
}

/** How long a schema may be that the prompt shows, in UTF-16 units. */
const shownSchema = 4_000;

/**
 * What a step says to its agent. Undefined: it has no agent. Every text ends with a line that tells how to say that it cannot be
 * done; the last one also says what must be left behind, which is looked at when it is closed.
 */
export function stepRun(step: StepPlan): StepRun | undefined {
  const { does } = step;
  switch (does.type) {
    case 'agent':
      return { plan: withOutputs([single(does.prompt, step)], step), rowsFrom: null };
    case 'todo':
      return { plan: withOutputs([single(withSubAgents(does.prompt, does), step)], step), rowsFrom: null };
    case 'route': {
      if (!('prompt' in does.by)) return undefined;
      const cases = Object.keys(does.cases).map(literal).join(', ');
      const ask = `${does.by.prompt}\n\nAnswer with one of these, and nothing else: ${cases}`;
      return { plan: withOutputs([single(ask, step)], step), rowsFrom: null };
    }
    case 'sequence': {
      const plan = does.messages.map((message) => ({ ...message, templates: true }) as const);
      return { plan: withOutputs(plan, step), rowsFrom: does.foreach };
    }
    default:
      return undefined;
  }
}

function single(text: string, step: StepPlan): TextMessage {
  const timeoutMs = step.timeoutMs ?? defaultTimeoutMs;
  const rest = { onFailure: 'stop', join: 'own', check: null, background: 'wait', templates: true } as const;
  return { text, timeoutMs, ...rest };
}

function withOutputs(messages: readonly TextMessage[], step: StepPlan): PlannedMessage[] {
  const names = Object.keys(step.outputs);
  return messages.map((message, i) => {
    const isLast = i === messages.length - 1 && names.length > 0;
    const parts = [message.text, ...(isLast ? [wantedOf(step)] : []), failureLine];
    const gate = isLast ? gateOf(message.gate, step) : message.gate;
    return { ...message, text: parts.join('\n\n'), ...(gate ? { gate } : {}) };
  });
}

/** What must be left behind is looked at behind the last message only (`plannedAt`), with what that message must hold. */
function gateOf(own: Gate | undefined, { outputs, repairs }: StepPlan): Gate {
  const { command = null, repairText = null } = own ?? {};
  return { command, outputs, repairs: Math.max(own?.repairs ?? 0, repairs), repairText };
}

const failureLine = `If you cannot do this, say so: end your answer with a line that begins with "${failureMark}" and says why.`;

function wantedOf({ outputs }: StepPlan): string {
  const lines = Object.values(outputs).map((output) => `- ${wanted(output)}`);
  return `When you are done there must be, and it is looked at:\n${lines.join('\n')}`;
}

function wanted(output: OutputPlan): string {
  switch (output.from) {
    case 'file':
      return `the file ${literal(output.path)}`;
    case 'json':
      return `the file ${literal(output.path)}, ${fitting(output.schema)}`;
    case 'answer':
      return output.schema === null
        ? 'an answer'
        : `your answer, nothing else in it: ${fitting(output.schema)}`;
    case 'command':
      return `what makes this command exit with 0: ${literal(output.command)}`;
  }
}

function fitting(schema: unknown): string {
  if (schema === null) return 'JSON';
  const text = JSON.stringify(schema);
  return text.length > shownSchema ? 'JSON' : `JSON that fits this JSON Schema: ${literal(text)}`;
}

/** What was not written as a template is none. */
function literal(text: string): string {
  return text.replaceAll('{{', '\\{{');
}
