import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Session } from '../../../../src/contract/session.ts';
import { tell } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import styles from './session.module.css';
import { sessionState, sessionWords } from './session-words.ts';
import { StateMark } from '../../ui/state-mark.tsx';

/** What a session is and what it does now; and how to stop that. */
export function SessionHead({ session }: { readonly session: Session }): ReactNode {
  const { id, agent, title, cwd, turn, state, nativeId, lastActivityAt } = session;
  const client = useQueryClient();
  const shown = sessionState(session);
  const act = async (what: 'interrupt' | 'stop'): Promise<void> => {
    await tell(`/sessions/${id}/${what}`, { reason: 'asked for on the page' });
    await client.invalidateQueries({ queryKey: ['session', id] });
  };
  return (
    <header className={styles.sessionHead}>
      <div className={styles.titles}>
        <h1>
          <bdi>{plainLine(title ?? `${agent} session`, 160)}</bdi>
        </h1>
        <span className={styles.now}>
          {shown && <StateMark state={shown} />}
          <bdi>{sessionWords(session)}</bdi>
        </span>
        <span className={styles.actions}>
          {turn && <Action label="Stop the turn" tone="bad" run={() => act('interrupt')} />}
          {state !== 'stopped' && (
            <Action
              label="Stop the session"
              tone="bad"
              asks="Stop it, and cancel all that it started?"
              run={() => act('stop')}
            />
          )}
        </span>
      </div>
      <dl className={styles.facts}>
        <Fact name="Agent">
          <Link to="/agents">
            <bdi>{plainLine(agent, 60)}</bdi>
          </Link>
        </Fact>
        <Fact name="Directory">
          <code>
            <bdi>{plainLine(cwd, 200)}</bdi>
          </code>
        </Fact>
        <Fact name="Last active" isMinor>
          <Age from={lastActivityAt} /> ago
        </Fact>
        {nativeId !== undefined && (
          <Fact name="Its own id" isMinor>
            <code>
              <bdi>{plainLine(nativeId, 80)}</bdi>
            </code>
          </Fact>
        )}
      </dl>
    </header>
  );
}

function Fact({
  name,
  isMinor = false,
  children,
}: {
  readonly name: string;
  /** Left out where there is no room. */
  readonly isMinor?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div data-minor={isMinor || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
