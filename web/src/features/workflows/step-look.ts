import type { WorkflowStep } from '../../../../src/contract/workflow.ts';
import { plainLine } from '../../ui/plain.ts';

/** How a step looks: a sign and a tone, and the word for those who see neither. */
export interface StepLook {
  readonly sign: string;
  readonly tone: StepTone;
  readonly word: string;
}

/** The colours that steps have. */
export type StepTone = 'idle' | 'running' | 'wait' | 'good' | 'bad';

/** How far a step is, or what it came to. */
export function stepLook({
  state,
  attempts,
  reused,
}: Pick<WorkflowStep, 'state' | 'attempts' | 'reused'>): StepLook {
  switch (state) {
    case 'blocked':
      return { sign: '○', tone: 'idle', word: 'blocked' };
    case 'due':
      return { sign: '○', tone: 'running', word: 'due' };
    case 'running':
      return attempts.at(-1)?.waiting
        ? { sign: '◐', tone: 'wait', word: 'waiting' }
        : { sign: '●', tone: 'running', word: 'running' };
    case 'backsOff':
      return { sign: '◐', tone: 'wait', word: 'tried again later' };
    case 'succeeded':
      return reused === undefined
        ? { sign: '✓', tone: 'good', word: 'succeeded' }
        : { sign: '≡', tone: 'good', word: 'kept from before' };
    case 'failed':
      return { sign: '✗', tone: 'bad', word: 'failed' };
    case 'skipped':
      return { sign: '–', tone: 'idle', word: 'skipped' };
    case 'cancelled':
      return { sign: '⊘', tone: 'idle', word: 'cancelled' };
  }
}

/** What is to be known of a step besides its state: why, how often, what it waits for. */
export function stepRemarks(step: WorkflowStep): string {
  const { reason, tries, waitsFor, attempts, state } = step;
  const waiting = state === 'running' ? attempts.at(-1)?.waiting : undefined;
  const said = [
    reason === undefined ? '' : plainLine(reason, 100),
    tries > 1 ? `${tries} attempts` : '',
    waiting ? `waits for ${plainLine(waiting.text ?? waiting.for, 160)}` : '',
    waitsFor && waitsFor.length > 0 ? `waits for ${waitsFor.join(', ')}` : '',
    step.retryAt === undefined ? '' : `again at ${new Date(step.retryAt).toLocaleTimeString()}`,
  ];
  return said.filter((part) => part !== '').join('; ');
}
