import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { AgentView, Session } from '../../../../src/contract/session.ts';
import { useTitle } from '../../app/title.ts';
import { agentsQuery, sessionQuery } from '../../live/queries.ts';
import { Answered } from '../../ui/answered.tsx';
import { AnswerForm } from '../../ui/answer-form.tsx';
import { Message } from '../../ui/message.tsx';
import { plainLine } from '../../ui/plain.ts';
import { Composer } from './composer.tsx';
import { SessionHead } from './session-head.tsx';
import styles from './session.module.css';
import { TranscriptList } from './transcript-list.tsx';
import { useSessionRows } from './use-session-rows.ts';
import { WaitingMessages } from './waiting-messages.tsx';

const TerminalPane = lazy(async () => ({ default: (await import('./terminal-pane.tsx')).TerminalPane }));

/** One conversation: what was said and done in it, its terminal, and the way to write to it. */
export function SessionView(): ReactNode {
  const { id } = useParams({ from: '/sessions/$id' });
  const session = useQuery(sessionQuery(id));
  const agents = useQuery(agentsQuery(false));
  const title = session.data ? (session.data.title ?? session.data.agent) : 'Session';
  useTitle(plainLine(title, 80));
  return (
    <Answered query={session} what="the session">
      {(found) => (
        // Another session is another view: nothing of this one is left in it.
        <OneSession
          key={found.id}
          session={found}
          agent={agents.data?.items.find(({ name }) => name === found.agent)}
        />
      )}
    </Answered>
  );
}

type Shown = 'transcript' | 'terminal';

function OneSession({
  session,
  agent,
}: {
  readonly session: Session;
  readonly agent: AgentView | undefined;
}): ReactNode {
  const [shown, setShown] = useState<Shown>('transcript');
  const hasTerminal = agent?.hasScreen === true;
  return (
    <div className={styles.session}>
      <SessionHead session={session} />
      {hasTerminal && (
        <div className={styles.tabs} role="tablist" aria-label="What is shown">
          {(['transcript', 'terminal'] as const).map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={shown === name}
              aria-controls="shown"
              onClick={() => setShown(name)}
            >
              {name === 'transcript' ? 'Transcript' : 'Terminal'}
            </button>
          ))}
        </div>
      )}
      <div
        id="shown"
        className={styles.shown}
        {...(hasTerminal ? { role: 'tabpanel', 'aria-labelledby': `tab-${shown}` } : {})}
      >
        {shown === 'terminal' ? (
          <Suspense fallback={<p role="status">Loading the terminal…</p>}>
            <TerminalPane sessionId={session.id} />
          </Suspense>
        ) : (
          <Conversation session={session} agent={agent} />
        )}
      </div>
    </div>
  );
}

function Conversation({
  session,
  agent,
}: {
  readonly session: Session;
  readonly agent: AgentView | undefined;
}): ReactNode {
  const isBusy = session.turn !== undefined;
  const { rows, waiting, isLoading, error, hasOlder, readOlder, asking } = useSessionRows(session.id, isBusy);
  return (
    <>
      {error && !isLoading && (
        <Message title="What was said cannot be shown" tone="bad">
          {error.message}
        </Message>
      )}
      {isLoading ? (
        <p role="status" aria-busy="true">
          Loading what was said…
        </p>
      ) : rows.length === 0 ? (
        <Message title="Nothing was said yet">Write the first message below.</Message>
      ) : (
        <TranscriptList rows={rows} hasOlder={hasOlder} readOlder={readOlder} isBusy={isBusy} />
      )}
      {asking.map(({ executionId, waiting: asked }) => (
        <AnswerForm key={`${executionId} ${asked.questionId}`} executionId={executionId} waiting={asked} />
      ))}
      <WaitingMessages messages={waiting} />
      <Composer session={session} agent={agent} />
    </>
  );
}
