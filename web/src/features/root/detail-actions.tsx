import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { Execution } from '../../../../src/contract/execution.ts';
import { stopTree, tell } from '../../live/ask.ts';
import { useMayOperate } from '../../live/who.ts';
import { Action } from '../../ui/action.tsx';
import { AnswerForm } from '../../ui/answer-form.tsx';
import styles from './root.module.css';

/** What can be done with one execution, as the server offers it. */
export function DetailActions({ execution }: { readonly execution: Execution }): ReactNode {
  const { id, closed, kind, state, waiting, runsIn, parentId } = execution;
  if (closed) return null;
  const path = `/executions/${encodeURIComponent(id)}`;
  return (
    <div className={styles.detailActions}>
      {waiting && <AnswerForm executionId={id} waiting={waiting} />}
      <div className={styles.actions}>
        <Action label="Stop" tone="bad" asks="Stop it and everything below it?" run={() => stopTree(id)} />
        {parentId !== null && kind !== 'continuation' && (
          <Action
            label="Detach"
            asks="Let it live on without holding the tree?"
            run={() => tell(`${path}/detach`, {})}
          />
        )}
      </div>
      {state === 'running' && !waiting && runsIn !== undefined && <Steer sessionId={runsIn} />}
    </div>
  );
}

/** Says something to an agent that is at work: it is taken up within its turn where the agent can do that, else after it. */
function Steer({ sessionId }: { readonly sessionId: string }): ReactNode {
  const [text, setText] = useState('');
  const mayOperate = useMayOperate();
  const field = useId();
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      tell<{ disposition: string }>('/query', { message: text, sessionId, whenBusy: 'steer' }),
    onSuccess: () => setText(''),
  });
  if (!mayOperate) return null;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() !== '') mutate();
  };
  return (
    <form className={styles.steer} onSubmit={send}>
      <label htmlFor={field}>Steer: say something to it while it works</label>
      <textarea id={field} rows={2} value={text} onChange={({ target }) => setText(target.value)} />
      <div className={styles.actions}>
        <button type="submit" disabled={isPending || text.trim() === ''}>
          Steer
        </button>
        {data && !isPending && (
          <span role="status" className={styles.quiet}>
            {data.disposition === 'steering'
              ? 'On its way into the running turn.'
              : 'Queued behind the running turn.'}
          </span>
        )}
        {error && <span role="alert">{error.message}</span>}
      </div>
    </form>
  );
}
