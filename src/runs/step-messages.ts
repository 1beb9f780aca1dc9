import { defaultTimeoutMs } from '../ledger/registration.ts';
import type { PlannedMessage } from '../ledger/session.ts';
import type { StepPlan } from '../ledger/step-plan.ts';

/** The messages of the conversation of a step; none where it has no conversation. */
export function messagesOf({ does, timeoutMs }: StepPlan): readonly PlannedMessage[] {
  if (does.type === 'sequence') return does.messages.map((message) => ({ ...message, templates: true }));
  const text = 'prompt' in does ? does.prompt : does.type === 'route' ? routePrompt(does) : undefined;
  if (text === undefined) return [];
  return [
    {
      text,
      timeoutMs: timeoutMs ?? defaultTimeoutMs,
      onFailure: 'stop',
      join: 'own',
      check: null,
      background: 'wait',
      templates: true,
    },
  ];
}

function routePrompt({ by, cases }: Extract<StepPlan['does'], { type: 'route' }>): string | undefined {
  if (!('prompt' in by)) return undefined;
  return `${by.prompt}\n\nAnswer with exactly one of: ${Object.keys(cases).join(', ')}.`;
}
