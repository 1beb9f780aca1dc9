import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import type { StepAttemptView } from '../../../../src/contract/step-attempt.ts';
import type { WorkflowStep } from '../../../../src/contract/workflow.ts';
import { tell } from '../../live/ask.ts';
import { attemptQuery } from '../../live/queries.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { AnswerForm } from '../../ui/answer-form.tsx';
import { Answered } from '../../ui/answered.tsx';
import { ErrorCode } from '../../ui/error-code.tsx';
import { plainBlock, plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { shownState, usageWords } from '../../ui/words.ts';
import { mayDo } from '../runs/run-rows.ts';
import { stepRemarks } from './step-look.ts';
import styles from './workflows.module.css';

// What makes something of markup weighs more than all of this.
const Markdown = lazy(() => import('../../ui/markdown.tsx').then(({ Markdown }) => ({ default: Markdown })));

/** The attempts at a step, the latest first, and what can be done with the step. */
export function StepAttempts({
  run,
  step,
  isRemarked = false,
}: {
  readonly run: Run;
  readonly step: WorkflowStep;
  /** What is to be known besides its state stands above it already. */
  readonly isRemarked?: boolean;
}): ReactNode {
  const { attempts, needs, reused } = step;
  const remarks = isRemarked ? '' : stepRemarks(step);
  const latest = attempts.toReversed();
  return (
    <div className={view.section}>
      {(needs.length > 0 || remarks !== '') && (
        <p className={view.facts}>
          {remarks !== '' && <span>{remarks}</span>}
          {needs.length > 0 && <span>needs {needs.join(', ')}</span>}
        </p>
      )}
      {reused !== undefined && (
        <p className={view.quiet}>It had succeeded before, and was not done again. That attempt:</p>
      )}
      {reused !== undefined && attempts.length === 0 && <AttemptBody id={reused} rootId={undefined} />}
      {mayDo(run).rerun && <Again run={run} name={step.name} />}
      {attempts.length === 0 && reused === undefined && (
        <p className={view.quiet}>Nothing was begun for it.</p>
      )}
      {latest.map((attempt, index) => (
        <Attempt
          key={attempt.executionId}
          attempt={attempt}
          rootId={run.workflow?.executionId}
          isFirst={index === 0}
        />
      ))}
    </div>
  );
}

function Again({ run, name }: { readonly run: Run; readonly name: string }): ReactNode {
  const rerun = (only: boolean) => (): Promise<unknown> =>
    tell(`/runs/${run.id}/rerun`, { from: name, only });
  return (
    <div className={view.buttons}>
      <Action label="Rerun from this step" asks="Do it and all that needs it again?" run={rerun(false)} />
      <Action label="Rerun this step alone" asks="Do this step alone again?" run={rerun(true)} />
    </div>
  );
}

function Attempt({
  attempt,
  rootId,
  isFirst,
}: {
  readonly attempt: WorkflowStep['attempts'][number];
  readonly rootId: string | undefined;
  readonly isFirst: boolean;
}): ReactNode {
  const [isShown, setShown] = useState(isFirst);
  const { executionId, attempt: number, startedAt, endedAt, waiting, error, usage, sessionId } = attempt;
  return (
    <article className={styles.attempt}>
      <div className={view.facts}>
        <strong>Attempt {number}</strong>
        <StateMark state={shownState({ ...attempt, waiting })} word />
        {startedAt !== undefined && <Age from={startedAt} to={endedAt} />}
        <span>{usageWords(usage)}</span>
        {rootId !== undefined && (
          <Link to="/roots/$id" params={{ id: rootId }} search={{ at: executionId }}>
            in the tree
          </Link>
        )}
        {sessionId !== undefined && (
          <Link to="/sessions/$id" params={{ id: sessionId }}>
            transcript
          </Link>
        )}
      </div>
      {waiting && <AnswerForm executionId={executionId} waiting={waiting} />}
      {error && (
        <p className={view.bad}>
          <ErrorCode code={error.code} /> {plainBlock(error.message.slice(0, 4_000))}
        </p>
      )}
      <details open={isShown} onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
        <summary>What was said and done</summary>
        {isShown && <AttemptBody id={executionId} rootId={rootId} />}
      </details>
    </article>
  );
}

function AttemptBody({
  id,
  rootId,
}: {
  readonly id: string;
  readonly rootId: string | undefined;
}): ReactNode {
  const query = useQuery(attemptQuery(id, rootId));
  return (
    <Answered query={query} what="the attempt">
      {(attempt) => <AttemptShown attempt={attempt} />}
    </Answered>
  );
}

function AttemptShown({ attempt }: { readonly attempt: StepAttemptView }): ReactNode {
  const {
    command,
    question,
    messages = [],
    messagesCount = 0,
    result,
    resultCut,
    outputs,
    files,
    directory,
  } = attempt;
  return (
    <div className={view.section}>
      {command !== undefined && <Text title="Command" text={command} />}
      {question !== undefined && <Text title="Question" text={question} />}
      {messages.map((message) => (
        <Turn key={message.executionId} message={message} />
      ))}
      {messagesCount > messages.length && (
        <p className={view.quiet}>
          {messagesCount - messages.length} more messages; its record has all of them.
        </p>
      )}
      {messages.length === 0 && result !== undefined && result !== '' && (
        <Text title={command === undefined ? 'Result' : 'Printed'} text={result} isCut={resultCut} isAnswer />
      )}
      {outputs && <Text title="Outputs" text={JSON.stringify(outputs, null, 2)} />}
      {files.length > 0 && (
        <details>
          <summary>Its record ({files.length === 1 ? '1 file' : `${files.length} files`})</summary>
          <p className={view.quiet}>
            <bdi>{directory}</bdi>
          </p>
          <ul>
            {files.map(({ path, bytes }) => (
              <li key={path}>
                <bdi>{plainLine(path, 200)}</bdi>{' '}
                <span className={view.quiet}>{bytes.toLocaleString('en')} bytes</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Turn({
  message,
}: {
  readonly message: NonNullable<StepAttemptView['messages']>[number];
}): ReactNode {
  const { index, row, attempt, text, textCut, result, resultCut, error, usage } = message;
  const more = `${row === undefined ? '' : `, row ${row + 1}`}${attempt > 1 ? `, sent again (${attempt})` : ''}`;
  return (
    <div className={styles.turn}>
      {text !== undefined && <Text title={`Prompt ${index + 1}${more}`} text={text} isCut={textCut} />}
      {error && (
        <p className={view.bad}>
          <ErrorCode code={error.code} /> {plainLine(error.message, 600)}
        </p>
      )}
      {result !== undefined && (
        <div>
          <Heading title={`Answer ${usageWords(usage)}`} isCut={resultCut} />
          <div className={styles.answer}>
            <Suspense fallback={<pre className={view.text}>{plainBlock(result)}</pre>}>
              <Markdown text={result} />
            </Suspense>
          </div>
        </div>
      )}
    </div>
  );
}

function Text({
  title,
  text,
  isCut = false,
  isAnswer = false,
}: {
  readonly title: string;
  readonly text: string;
  readonly isCut?: boolean | undefined;
  readonly isAnswer?: boolean;
}): ReactNode {
  return (
    <div>
      <Heading title={title} isCut={isCut} />
      <pre className={isAnswer ? `${view.text} ${styles.answer}` : view.text}>{plainBlock(text)}</pre>
    </div>
  );
}

function Heading({
  title,
  isCut = false,
}: {
  readonly title: string;
  readonly isCut?: boolean | undefined;
}): ReactNode {
  return (
    <h3 className={view.quiet}>
      {title}
      {isCut && ' (its beginning; its record has all of it)'}
    </h3>
  );
}
