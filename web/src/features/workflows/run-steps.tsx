import { type ReactNode, useState } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import type { WorkflowStep, WorkflowView } from '../../../../src/contract/workflow.ts';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import view from '../../ui/view.module.css';
import { usageWords } from '../../ui/words.ts';
import { StepAttempts } from './step-attempts.tsx';
import { StepGraph } from './step-graph.tsx';
import { stepRemarks } from './step-look.ts';
import { StepSign } from './step-sign.tsx';
import styles from './workflows.module.css';

/** The steps of a run of a workflow: how far each is, and behind it what was said and done. */
export function RunSteps({
  run,
  workflow,
}: {
  readonly run: Run;
  readonly workflow: WorkflowView;
}): ReactNode {
  const [chosen, setChosen] = useState<string>();
  const { steps, inputs, result, counts } = workflow;
  const states = new Map(steps.map((step) => [step.name, step]));
  const open = (name: string): void => {
    setChosen(name);
    document.getElementById(`step-${name}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <>
      <section className={view.section} aria-labelledby="graph-title">
        <h2 id="graph-title">Steps</h2>
        <StepGraph steps={steps} states={states} chosen={chosen} choose={open} />
      </section>
      <section className={view.section} aria-labelledby="steps-title">
        <h2 id="steps-title">What each did</h2>
        <ol className={styles.steps} id="steps">
          {steps.map((step) => (
            <RunStep key={step.name} run={run} step={step} isChosen={step.name === chosen} />
          ))}
        </ol>
        {counts.total > steps.length && (
          <p className={view.quiet}>
            and {counts.total - steps.length} more: <code>stemma workflow show {run.id}</code>
          </p>
        )}
      </section>
      {inputs && (
        <section className={view.section} aria-labelledby="inputs-title">
          <h2 id="inputs-title">Inputs</h2>
          <dl className={view.said}>
            {Object.entries(inputs).map(([name, value]) => (
              <div key={name} style={{ display: 'contents' }}>
                <dt>{name}</dt>
                <dd>
                  <bdi>{plainLine(typeof value === 'string' ? value : JSON.stringify(value), 400)}</bdi>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {result !== undefined && (
        <section className={view.section} aria-labelledby="result-title">
          <h2 id="result-title">What it gave</h2>
          <pre className={view.text}>{result}</pre>
        </section>
      )}
    </>
  );
}

function RunStep({
  run,
  step,
  isChosen,
}: {
  readonly run: Run;
  readonly step: WorkflowStep;
  readonly isChosen: boolean;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const last = step.attempts.at(-1);
  const remarks = stepRemarks(step);
  // What asks a person is open by itself.
  const isShown = isOpen || isChosen || last?.waiting?.for === 'input';
  return (
    <li className={styles.step} id={`step-${step.name}`} data-state={step.state}>
      <details open={isShown} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span className={styles.line}>
            <StepSign step={step} word />
            <strong>
              <bdi>{step.name}</bdi>
            </strong>
            <span className={view.quiet}>{step.type}</span>
            {last?.startedAt !== undefined && (
              <span className={view.quiet}>
                <Age from={last.startedAt} to={last.endedAt} />
              </span>
            )}
            <span className={view.quiet}>{usageWords(last?.usage)}</span>
            {remarks !== '' && (
              <span className={view.quiet}>
                <bdi>{remarks}</bdi>
              </span>
            )}
          </span>
        </summary>
        {isShown && <StepAttempts run={run} step={step} isRemarked />}
      </details>
    </li>
  );
}
