import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Workflow } from '../../../../src/contract/workflow.ts';
import { useTitle } from '../../app/title.ts';
import { workflowRunsQuery, workflowsQuery } from '../../live/queries.ts';
import { Answered } from '../../ui/answered.tsx';
import { FromNow } from '../../ui/instant.tsx';
import { Message } from '../../ui/message.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { shownRun } from '../runs/run-rows.ts';
import styles from './workflows.module.css';

/** The workflow files of the server, each with its latest runs. */
export function WorkflowsView(): ReactNode {
  useTitle('Workflows');
  const query = useQuery(workflowsQuery());
  const [search, setSearch] = useState('');
  return (
    <div className={view.view}>
      <h1>Workflows</h1>
      <Answered
        query={query}
        what="the workflows"
        isEmpty={({ items }) => items.length === 0}
        empty={<NoWorkflows />}
      >
        {({ items }) => {
          const rows = fitting(items, search);
          return (
            <>
              <form className={view.filters} role="search" onSubmit={(event) => event.preventDefault()}>
                <input
                  type="search"
                  aria-label="Search the workflows"
                  placeholder="Search"
                  value={search}
                  onChange={({ target }) => setSearch(target.value)}
                />
                <output>
                  {rows.length === items.length ? items.length : `${rows.length} of ${items.length}`}{' '}
                  workflows
                </output>
              </form>
              <ul className={styles.rows} aria-label="Workflows">
                {rows.map((workflow) => (
                  <WorkflowRow key={`${workflow.project}/${workflow.name}`} workflow={workflow} />
                ))}
              </ul>
            </>
          );
        }}
      </Answered>
    </div>
  );
}

function fitting(all: readonly Workflow[], search: string): Workflow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter(({ project, name, description = '' }) => {
    const text = `${project}/${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function WorkflowRow({ workflow }: { readonly workflow: Workflow }): ReactNode {
  const { project, name, description, steps, problems, groups, evaluates, evaluation } = workflow;
  return (
    <li className={styles.card}>
      <div className={view.head}>
        <Link to="/workflows/$project/$name" params={{ project, name }} className={styles.name}>
          <bdi>
            {project}/{name}
          </bdi>
        </Link>
        {problems && (
          <span className={view.chip} data-tone="bad">
            cannot be run
          </span>
        )}
        {evaluates && <span className={view.chip}>scores others</span>}
        {evaluation !== undefined && <span className={view.chip}>scored by {evaluation}</span>}
        {groups.length > 0 && <span className={view.chip}>{groups.length} groups</span>}
        <span className={view.quiet}>{steps.length === 1 ? '1 step' : `${steps.length} steps`}</span>
      </div>
      {description !== undefined && (
        <p className={view.quiet}>
          <bdi>{plainLine(description, 300)}</bdi>
        </p>
      )}
      {!evaluates && <LatestRuns name={`${project}/${name}`} />}
    </li>
  );
}

function LatestRuns({ name }: { readonly name: string }): ReactNode {
  const runs = useQuery(workflowRunsQuery(name, { limit: 5 }));
  const items = runs.data?.items ?? [];
  if (items.length === 0) return <p className={view.quiet}>{runs.data ? 'has not run yet' : '…'}</p>;
  return (
    <p className={view.facts}>
      {items.map((run) => (
        <Link key={run.id} to="/runs/$id" params={{ id: run.id }}>
          <StateMark state={shownRun(run)} /> {run.createdAt !== undefined && <FromNow at={run.createdAt} />}
        </Link>
      ))}
    </p>
  );
}

function NoWorkflows(): ReactNode {
  return (
    <Message title="There are no workflows yet">
      <p>
        A workflow is a file in <code>workflows/</code> beside <code>stemma.yaml</code>; the server reads it
        anew for each run. <code>stemma workflow check</code> says what is wrong in one.
      </p>
    </Message>
  );
}
