import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import type { QueryAnswer } from '../../../../src/contract/requests.ts';
import type { AgentView, Session } from '../../../../src/contract/session.ts';
import { tell } from '../../live/ask.ts';
import { useWhyNot } from '../../live/who.ts';
import styles from './session.module.css';

const dispositions: Readonly<Record<QueryAnswer['disposition'], string>> = {
  started: 'Sent.',
  queued: 'Queued: it goes out when the session is free.',
  steering: 'On its way into the running turn.',
};

/** Writes to a session: into the queue, or into the turn that runs where its agent can prove that it took it up. */
export function Composer({
  session,
  agent,
}: {
  readonly session: Session;
  readonly agent: AgentView | undefined;
}): ReactNode {
  const [text, setText] = useState('');
  const [steers, setSteers] = useState(false);
  // The same text that is sent again because nobody answered is the same message.
  const [key, setKey] = useState(newKey);
  const hint = useId();
  const client = useQueryClient();
  const whyNot = useWhyNot();
  const isBusy = session.turn !== undefined;
  const maySteer = isBusy && agent?.capabilities?.['steer'] !== undefined && !isNone(agent);
  const { mutate, isPending, data, error, reset } = useMutation({
    mutationFn: (message: string) =>
      tell<QueryAnswer>(
        '/query',
        { message, sessionId: session.id, whenBusy: maySteer && steers ? 'steer' : 'queue' },
        { key },
      ),
    onSuccess: () => {
      setText('');
      setKey(newKey());
      return client.invalidateQueries({ queryKey: ['messages', session.id] });
    },
  });
  const send = (): void => {
    if (text.trim() !== '' && !isPending) mutate(text);
  };
  const isBlocked = whyNot !== undefined;
  return (
    <form
      className={styles.composer}
      aria-label="Write to this session"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        aria-label="Message"
        aria-describedby={hint}
        rows={2}
        value={text}
        disabled={isBlocked}
        placeholder={isBlocked ? whyNot : 'Write a message'}
        onChange={({ target }) => {
          setText(target.value);
          // Another text is another message.
          setKey(newKey());
          reset();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          send();
        }}
      />
      <div className={styles.sending}>
        {maySteer && (
          <fieldset className={styles.how} disabled={isBlocked}>
            <legend className={styles.hidden}>When</legend>
            <label>
              <input type="radio" name="how" checked={!steers} onChange={() => setSteers(false)} /> when it is
              free
            </label>
            <label>
              <input type="radio" name="how" checked={steers} onChange={() => setSteers(true)} /> into the
              running turn
            </label>
          </fieldset>
        )}
        <span id={hint} className={styles.quiet} role="status">
          {data && session.state !== 'stopped' ? dispositions[data.disposition] : hintOf(session, maySteer)}
        </span>
        {error && <span role="alert">{error.message}</span>}
        <button type="submit" data-tone="first" disabled={isBlocked || isPending || text.trim() === ''}>
          {isPending ? 'Sending…' : sendWord(isBusy, maySteer && steers)}
        </button>
      </div>
    </form>
  );
}

function isNone({ capabilities }: AgentView): boolean {
  const steer = capabilities?.['steer'];
  return steer === false || steer === 'none';
}

function sendWord(isBusy: boolean, steers: boolean): string {
  if (steers) return 'Steer';
  return isBusy ? 'Queue' : 'Send';
}

function hintOf({ state, turn }: Session, maySteer: boolean): string {
  if (state === 'stopped') return 'It was stopped: a message begins it again.';
  if (turn && !maySteer) return 'It is at work; the message waits until it is free.';
  return 'Ctrl+Enter sends';
}

// Not randomUUID: a page over plain HTTP has none.
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
