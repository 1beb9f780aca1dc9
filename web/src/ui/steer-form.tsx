import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { tell } from '../live/ask.ts';
import { useWhyNot } from '../live/who.ts';
import styles from './steer-form.module.css';

/** Says something to an agent that is at work: it is taken up within its turn where the agent can do that, else after it. */
export function SteerForm({ sessionId }: { readonly sessionId: string }): ReactNode {
  const [text, setText] = useState('');
  const whyNot = useWhyNot();
  const field = useId();
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      tell<{ disposition: string }>('/query', { message: text, sessionId, whenBusy: 'steer' }),
    onSuccess: () => setText(''),
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() !== '') mutate();
  };
  return (
    <form className={styles.steer} onSubmit={send}>
      <label htmlFor={field}>Say something to it while it works</label>
      <textarea
        id={field}
        rows={2}
        value={text}
        disabled={whyNot !== undefined}
        onChange={({ target }) => setText(target.value)}
      />
      <div className={styles.last}>
        <button
          type="submit"
          data-tone="first"
          title={whyNot}
          disabled={whyNot !== undefined || isPending || text.trim() === ''}
        >
          Send
        </button>
        {data && !isPending && (
          <span role="status">
            {data.disposition === 'steering'
              ? 'On its way into the running turn.'
              : 'It waits behind the running turn.'}
          </span>
        )}
        {error && <span role="alert">{error.message}</span>}
      </div>
    </form>
  );
}
