import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { SessionMessage } from '../../../../src/contract/session.ts';
import { tell } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { fateOf } from './message-fate.ts';
import styles from './session.module.css';

/** What is to be told to a session, first in first out, and what each waits for. */
export function WaitingMessages({ messages }: { readonly messages: readonly SessionMessage[] }): ReactNode {
  const client = useQueryClient();
  if (messages.length === 0) return null;
  const drop = async (id: string): Promise<void> => {
    await tell(`/executions/${id}/cancel`, { scope: 'tree', reason: 'dropped on the page' });
    await client.invalidateQueries({ queryKey: ['messages'] });
  };
  return (
    <section className={styles.waiting} aria-label="Not taken up yet">
      <ol>
        {messages.map((message) => {
          const { shown, words } = fateOf(message);
          return (
            <li key={message.executionId} data-delivery={message.delivery}>
              <StateMark state={shown} />
              <span className={styles.waitingText}>
                <bdi>{plainLine(message.text ?? message.name, 160)}</bdi>
                <span className={styles.quiet}>
                  <bdi>{words}</bdi>
                </span>
              </span>
              {message.kind === 'message' && <Action label="Drop" run={() => drop(message.executionId)} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
