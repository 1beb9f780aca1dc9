import type { ReactNode } from 'react';
import type { WorkflowStep } from '../../../../src/contract/workflow.ts';
import { stepLook } from './step-look.ts';
import styles from './workflows.module.css';

/** How far a step is: its sign and colour, and its word, which is seen where `word` says so. */
export function StepSign({
  step,
  word = false,
}: {
  readonly step: Pick<WorkflowStep, 'state' | 'attempts' | 'reused'>;
  readonly word?: boolean;
}): ReactNode {
  const look = stepLook(step);
  return (
    <span className={styles.sign} data-tone={look.tone}>
      <span aria-hidden="true">{look.sign}</span>{' '}
      <span className={word ? undefined : styles.hidden}>{look.word}</span>
    </span>
  );
}
