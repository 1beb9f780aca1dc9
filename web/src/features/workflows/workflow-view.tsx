import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { Page } from '../../../../src/contract/page.ts';
import type { Run } from '../../../../src/contract/run.ts';
import type { Workflow } from '../../../../src/contract/workflow.ts';
import { useTitle } from '../../app/title.ts';
import { workflowRunsQuery, workflowsQuery } from '../../live/queries.ts';
import { useWhyNot } from '../../live/who.ts';
import { Answered } from '../../ui/answered.tsx';
import { Message } from '../../ui/message.tsx';
import { plainLine } from '../../ui/plain.ts';
import view from '../../ui/view.module.css';
import { Matrix } from './matrix.tsx';
import { StartWorkflow } from './start-workflow.tsx';
import { StepDetail } from './step-detail.tsx';
import { StepGraph } from './step-graph.tsx';

const Evaluations = lazy(() =>
  import('./evaluations.tsx').then(({ Evaluations }) => ({ default: Evaluations })),
);

/** How many runs and steps the matrix has. */
const shown = { limit: 25, steps: 200 } as const;

/** One workflow: its steps as a graph, its runs by its steps, what they were scored, and how to start one. */
export function WorkflowView(): ReactNode {
  const { project, name } = useParams({ from: '/workflows/$project/$name' });
  const full = `${project}/${name}`;
  useTitle(full);
  const files = useQuery(workflowsQuery());
  const runs = useQuery(workflowRunsQuery(full, shown));
  return (
    <Answered query={files} what="the workflow">
      {({ items }) => {
        const file = items.find((one) => one.project === project && one.name === name);
        if (!file && runs.data?.items.length === 0) return <Gone full={full} />;
        if (!file && runs.error) return <Gone full={full} />;
        return <Shown key={full} full={full} file={file} runs={runs.data} />;
      }}
    </Answered>
  );
}

function Gone({ full }: { readonly full: string }): ReactNode {
  return (
    <Message title={`There is no workflow ${full}`}>
      The server has no file of this name, and nothing of it has run.{' '}
      <Link to="/workflows">All workflows</Link>
    </Message>
  );
}

function Shown({
  full,
  file,
  runs,
}: {
  readonly full: string;
  readonly file: Workflow | undefined;
  readonly runs: Page<Run> | undefined;
}): ReactNode {
  const navigate = useNavigate();
  const { run: runId, step: stepName } = useSearch({ from: '/workflows/$project/$name' });
  const all = runs?.items ?? [];
  const run = all.find(({ id }) => id === runId) ?? all[0];
  const steps = file?.steps ?? run?.workflow?.steps ?? [];
  const states = new Map(run?.workflow?.steps.map((step) => [step.name, step]));
  const choose = (step: string, ofRun = run?.id): void => {
    void navigate({
      to: '.',
      search: { step, ...(ofRun === undefined ? {} : { run: ofRun }) },
      replace: true,
      resetScroll: false,
    });
  };
  const chosen = stepName === undefined ? undefined : states.get(stepName);
  return (
    <div className={view.view}>
      <Head full={full} file={file} />
      <section className={view.section} aria-labelledby="graph-title">
        <div className={view.head}>
          <h2 id="graph-title">Steps</h2>
          {run && (
            <span className={view.quiet}>
              as of{' '}
              <Link to="/runs/$id" params={{ id: run.id }}>
                {run.id === all[0]?.id ? 'the latest run' : 'the chosen run'}
              </Link>
            </span>
          )}
        </div>
        <StepGraph steps={steps} states={states} chosen={stepName} choose={choose} />
      </section>
      {run && chosen && (
        <StepDetail
          run={run}
          step={chosen}
          onClose={() => void navigate({ to: '.', search: {}, replace: true, resetScroll: false })}
        />
      )}
      {!file?.evaluates && (
        <section className={view.section} aria-labelledby="matrix-title">
          <h2 id="matrix-title">Runs</h2>
          {all.length === 0 ? (
            <p className={view.quiet}>
              {runs ? 'It has not run yet. “Start a run…” begins one.' : 'Loading the runs…'}
            </p>
          ) : (
            <Matrix
              steps={steps.map(({ name }) => name)}
              runs={all}
              chosen={{ run: run?.id, step: stepName }}
              choose={choose}
            />
          )}
        </section>
      )}
      {all.some(({ scoring }) => scoring !== undefined) && (
        <Suspense fallback={<p role="status">Loading the evaluations…</p>}>
          <Evaluations runs={all} />
        </Suspense>
      )}
    </div>
  );
}

function Head({ full, file }: { readonly full: string; readonly file: Workflow | undefined }): ReactNode {
  const [isStarting, setStarting] = useState(false);
  const mayNot = useWhyNot();
  const whyNot = mayNot ?? whyNotRun(file);
  return (
    <header className={view.section}>
      <div className={view.head}>
        <h1>
          <bdi>{full}</bdi>
        </h1>
        {file?.evaluates && <span className={view.chip}>scores runs of others</span>}
        {file?.evaluation !== undefined && (
          <Link
            to="/workflows/$project/$name"
            params={{ project: file.project, name: file.evaluation }}
            className={view.chip}
          >
            scored by {file.evaluation}
          </Link>
        )}
        <div className={view.actions}>
          <button
            type="button"
            data-tone="first"
            aria-expanded={isStarting}
            disabled={whyNot !== undefined}
            title={whyNot}
            onClick={() => setStarting(!isStarting)}
          >
            Start a run…
          </button>
        </div>
      </div>
      {file?.description !== undefined && (
        <p className={view.quiet}>
          <bdi>{plainLine(file.description, 600)}</bdi>
        </p>
      )}
      {!file && <p className={view.quiet}>Its file is not there any more; these are its runs.</p>}
      {file?.problems && (
        <div className={view.panel} role="note">
          <h2 className={view.bad}>It cannot be run</h2>
          <ul>
            {file.problems.map((problem) => (
              <li key={problem}>{plainLine(problem, 500)}</li>
            ))}
          </ul>
        </div>
      )}
      {isStarting && file && <StartWorkflow workflow={file} onEnd={() => setStarting(false)} />}
    </header>
  );
}

function whyNotRun(file: Workflow | undefined): string | undefined {
  if (!file) return 'Its file is not there any more.';
  if (file.problems) return 'Its file has mistakes.';
  return file.evaluates ? 'It scores runs of others, and is not run by itself.' : undefined;
}
