import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import { useTitle } from '../../app/title.ts';
import { tell } from '../../live/ask.ts';
import { runQuery } from '../../live/queries.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { Answered } from '../../ui/answered.tsx';
import { FromNow, Instant } from '../../ui/instant.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { signs, spentWords } from '../../ui/words.ts';
import { RunSteps } from '../workflows/run-steps.tsx';
import { RunMessage } from './run-message.tsx';
import { mayDo, progressWords, shownRun } from './run-rows.ts';
import styles from './runs.module.css';
import { ScheduleLink } from './schedule-link.tsx';

/** How many messages are shown at once. */
const pageSize = 50;

/** One run: its messages in order, each with its tree, what it waits for, and what can be done with it. */
export function RunView(): ReactNode {
  const { id } = useParams({ from: '/runs/$id' });
  const [from, setFrom] = useState<number>();
  const query = useQuery(runQuery(id, { limit: pageSize, from }));
  return (
    <Answered query={query} what="the run">
      {(run) => (
        <div className={view.view}>
          <Head run={run} />
          {run.workflow ? <Workflow run={run} /> : <Messages run={run} setFrom={setFrom} />}
        </div>
      )}
    </Answered>
  );
}

function Head({ run }: { readonly run: Run }): ReactNode {
  const { id, name, workflow, waiting, outcome, outcomeCode } = run;
  const shown = shownRun(run);
  const title = plainLine(name ?? workflow?.name ?? id, 80);
  useTitle(`${signs[shown]} ${title}`);
  const { stop, resume } = mayDo(run);
  return (
    <header className={view.section}>
      <div className={view.head}>
        <h1>
          <bdi>{title}</bdi>
        </h1>
        <StateMark state={shown} word />
        <div className={view.actions}>
          {resume && <Action label="Resume" tone="first" run={() => tell(`/runs/${id}/resume`, {})} />}
          {stop && (
            <Action
              label="Stop"
              tone="bad"
              asks="Stop the run and the tree of its message?"
              run={() => tell(`/runs/${id}/cancel`, { reason: 'stopped on the page' })}
            />
          )}
        </div>
      </div>
      <Facts run={run} />
      {waiting && (
        <p className={styles.banner}>
          Waits for {plainLine(waiting.text ?? waiting.for, 400)}, since <FromNow at={waiting.since} />
          {waiting.until !== undefined && (
            <>
              , until <Instant at={waiting.until} /> (<FromNow at={waiting.until} />)
            </>
          )}
          .
        </p>
      )}
      {outcomeCode !== undefined && outcome !== 'succeeded' && (
        <p className={styles.banner} data-tone="bad">
          It came to {outcome ?? 'an end'}: <code>{plainLine(outcomeCode, 80)}</code>
          {workflow?.error && <> – {plainLine(workflow.error.message, 400)}</>}. “Resume” goes on where it
          stopped.
        </p>
      )}
    </header>
  );
}

function Facts({ run }: { readonly run: Run }): ReactNode {
  const { createdAt, endedAt, agent, sessionId, schedule, instant, project, workspace } = run;
  const used = spentWords({ spent: run.spent ?? run.workflow?.usage, budget: run.budget });
  return (
    <p className={view.facts}>
      <span>{progressWords(run)}</span>
      {createdAt !== undefined && (
        <span>
          begun <FromNow at={createdAt} />, {endedAt === undefined ? 'for' : 'took'}{' '}
          <Age from={createdAt} to={endedAt} />
        </span>
      )}
      <span>{used}</span>
      <span>project {plainLine(project, 80)}</span>
      {schedule !== undefined && (
        <span>
          <ScheduleLink full={schedule} />
          {instant !== undefined && (
            <>
              {' '}
              of <Instant at={instant} />
            </>
          )}
        </span>
      )}
      {sessionId !== undefined && (
        <span>
          <Link to="/sessions/$id" params={{ id: sessionId }}>
            {agent ?? 'its conversation'}
          </Link>
        </span>
      )}
      {workspace && (
        <span>
          {workspace.how} in <bdi>{plainLine(workspace.path, 200)}</bdi>
          {workspace.left !== undefined && `, ${workspace.left}`}
        </span>
      )}
    </p>
  );
}

function Messages({
  run,
  setFrom,
}: {
  readonly run: Run;
  readonly setFrom: (from: number) => void;
}): ReactNode {
  const { messages, messagesCount = messages.length } = run;
  const first = messages[0]?.index ?? 0;
  const behind = first + messages.length;
  return (
    <section className={view.section} aria-labelledby="messages-title">
      <h2 id="messages-title">Messages</h2>
      {first > 0 && (
        <button type="button" onClick={() => setFrom(Math.max(0, first - pageSize))}>
          Earlier messages ({first})
        </button>
      )}
      <ol className={styles.messages}>
        {messages.map((message) => (
          <RunMessage key={message.index} run={run} message={message} />
        ))}
      </ol>
      {behind < messagesCount && (
        <button type="button" onClick={() => setFrom(behind)}>
          Later messages ({messagesCount - behind})
        </button>
      )}
    </section>
  );
}

function Workflow({ run }: { readonly run: Run }): ReactNode {
  const { workflow, messages } = run;
  if (!workflow) return null;
  const [project = '', name = ''] = workflow.name.split('/');
  return (
    <>
      <p className={view.facts}>
        <Link to="/workflows/$project/$name" params={{ project, name }} search={{ run: run.id }}>
          workflow {plainLine(workflow.name, 80)}
        </Link>
        {workflow.group !== undefined && <span>group {plainLine(workflow.group, 60)}</span>}
        {messages.flatMap(({ index, attempts }) =>
          attempts.map(({ executionId, attempt }) => (
            <Link key={executionId} to="/roots/$id" params={{ id: executionId }}>
              {index === 0 ? 'its tree' : 'the tree of its evaluation'}
              {attempt > 1 && ` (attempt ${attempt})`}
            </Link>
          )),
        )}
      </p>
      <RunSteps run={run} workflow={workflow} />
    </>
  );
}
