import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import { tell } from '../../live/ask.ts';
import { treeQuery } from '../../live/queries.ts';
import { Action } from '../../ui/action.tsx';
import { ErrorCode } from '../../ui/error-code.tsx';
import { plainBlock } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import view from '../../ui/view.module.css';
import { type Shown, shownState } from '../../ui/words.ts';
import { CompactTree } from './compact-tree.tsx';
import { mayDo } from './run-rows.ts';
import styles from './runs.module.css';

// What makes something of markup weighs more than all of this.
const Markdown = lazy(() => import('../../ui/markdown.tsx').then(({ Markdown }) => ({ default: Markdown })));

/** How much of an answer is shown here, in UTF-16 units; the conversation has all of it. */
const longestAnswer = 20_000;

type Message = Run['messages'][number];

/** One message of a run: what it says, each time that it was sent, and the tree of the last time. */
export function RunMessage({ run, message }: { readonly run: Run; readonly message: Message }): ReactNode {
  const { index, text, attempts, row } = message;
  const last = attempts.at(-1);
  const state = stateOf(run, message);
  return (
    <li className={styles.message} data-state={state ?? 'unsent'}>
      <div className={view.head}>
        <h3>
          Message {index + 1}
          {row !== undefined && <span className={view.quiet}> for row {row + 1}</span>}
        </h3>
        {state === undefined ? (
          <span className={view.quiet}>not sent yet</span>
        ) : (
          <StateMark state={state} word />
        )}
        <span className={view.facts}>
          {attempts.map(({ executionId, attempt }) => (
            <Link key={executionId} to="/roots/$id" params={{ id: executionId }}>
              {attempts.length > 1 ? `attempt ${attempt}` : 'open its tree'}
            </Link>
          ))}
        </span>
        {mayDo(run).rerun && (
          <div className={view.actions}>
            <Action
              label="Rerun from here"
              asks={`Send message ${index + 1} and all behind it again?`}
              run={() => tell(`/runs/${run.id}/rerun`, { from: index })}
            />
          </div>
        )}
      </div>
      <pre className={view.text}>{plainBlock(text)}</pre>
      {last && (
        <Outcome
          id={last.executionId}
          isOpen={last.executionId === run.currentId || run.messages.length <= 5}
        />
      )}
    </li>
  );
}

function stateOf({ next = 0, state }: Run, { index, attempts }: Message): Shown | undefined {
  const last = attempts.at(-1);
  // Where a run has begun again, what is behind its place is sent again.
  if (!last || (state !== 'ended' && index > next)) return undefined;
  return shownState({ ...last, waiting: undefined });
}

/** What a message came to: its tree, and what was answered. Read only where it is open. */
function Outcome({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }): ReactNode {
  const [isShown, setShown] = useState(isOpen);
  return (
    <details open={isShown} onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
      <summary>What came of it</summary>
      {isShown && (
        <div className={view.section}>
          <CompactTree id={id} />
          <Answer id={id} />
        </div>
      )}
    </details>
  );
}

function Answer({ id }: { readonly id: string }): ReactNode {
  const root = useQuery(treeQuery(id)).data?.executions.find((one) => one.id === id);
  if (!root) return null;
  const { result, error } = root;
  return (
    <>
      {error && (
        <p className={view.bad}>
          <ErrorCode code={error.code} /> {plainBlock(error.message).slice(0, 2_000)}
        </p>
      )}
      {result !== undefined && result.trim() !== '' && (
        <div className={styles.answer} role="group" aria-label="Answer">
          <Suspense fallback={<pre className={view.text}>{plainBlock(result.slice(0, longestAnswer))}</pre>}>
            <Markdown text={result.slice(0, longestAnswer)} />
          </Suspense>
        </div>
      )}
    </>
  );
}
