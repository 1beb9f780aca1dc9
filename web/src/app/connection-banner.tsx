import type { ReactNode } from 'react';
import { useConnection } from '../live/live.tsx';
import { Meanwhile } from './meanwhile.tsx';
import styles from './shell.module.css';

/** Whether what is shown is as things are; where it is not, since when, why, and what to do. */
export function ConnectionBanner(): ReactNode {
  const connection = useConnection();
  const { state, tryAgain } = connection;
  return (
    <div className={styles.connection} data-state={state} role="status" id="connection">
      {state === 'live' && <span>live</span>}
      {state === 'live' && connection.after && <Meanwhile absence={connection.after} />}
      {state === 'connecting' && <span>connecting…</span>}
      {state === 'lost' && (
        <>
          <span>{lostWords(connection)}</span>
          <button type="button" onClick={tryAgain}>
            Try now
          </button>
        </>
      )}
    </div>
  );
}

function lostWords({ why, since, message }: { why: string; since: number; message: string }): string {
  const at = new Date(since).toLocaleTimeString();
  if (why === 'signedOut') return 'Signed out. Open the link that "stemma open" prints.';
  if (why === 'refused')
    return `The server cannot answer: ${message} Trying again. This is how it was at ${at}.`;
  return `The server is gone ("stemma up" starts it). This is how it was at ${at}. Trying again…`;
}
