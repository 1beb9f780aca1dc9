import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import type { WorkflowStep } from '../../../../src/contract/workflow.ts';
import view from '../../ui/view.module.css';
import { StepAttempts } from './step-attempts.tsx';
import { StepSign } from './step-sign.tsx';

/** What one step did in one run: its attempts, and how it is done again. */
export function StepDetail({
  run,
  step,
  onClose,
}: {
  readonly run: Run;
  readonly step: WorkflowStep;
  readonly onClose: () => void;
}): ReactNode {
  const title = useRef<HTMLHeadingElement>(null);
  const key = `${run.id} ${step.name}`;
  // Who has opened a step goes on reading there, by eye and by screen reader.
  useEffect(() => {
    if (key !== '') title.current?.focus({ preventScroll: true });
    title.current?.scrollIntoView({ block: 'nearest' });
  }, [key]);
  return (
    <section className={view.panel} aria-labelledby="step-title" id="step-detail">
      <div className={view.head}>
        <h2 id="step-title" ref={title} tabIndex={-1}>
          <bdi>{step.name}</bdi>
        </h2>
        <StepSign step={step} word />
        <span className={view.quiet}>
          {step.type} in{' '}
          <Link to="/runs/$id" params={{ id: run.id }}>
            this run
          </Link>
        </span>
        <div className={view.actions}>
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
      <StepAttempts run={run} step={step} />
    </section>
  );
}
