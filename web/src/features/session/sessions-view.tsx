import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Page } from '../../../../src/contract/page.ts';
import type { Session } from '../../../../src/contract/session.ts';
import { useTitle } from '../../app/title.ts';
import { ask } from '../../live/ask.ts';
import { queryText } from '../../live/queries.ts';
import { Age } from '../../ui/age.tsx';
import { Message } from '../../ui/message.tsx';
import { plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { NewSession } from './new-session.tsx';
import { sessionState, sessionWords } from './session-words.ts';
import styles from './sessions.module.css';

/** Every conversation, the newest first. */
export function SessionsView(): ReactNode {
  useTitle('Sessions');
  const [state, setState] = useState('');
  const [search, setSearch] = useState('');
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['sessions', 'all', state],
    queryFn: ({ pageParam, signal }) =>
      ask<Page<Session>>(`/sessions${queryText({ state, cursor: pageParam, limit: 100 })}`, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    meta: { touchedBy: (event) => event.type.startsWith('turn.') || event.type.startsWith('session.') },
  });
  const all = data?.pages.flatMap(({ items }) => items);
  const shown = all?.filter((session) => fits(session, search));
  return (
    <div className={styles.sessions}>
      <div className={styles.head}>
        <h1>Sessions</h1>
        <NewSession />
      </div>
      <form className={styles.filters} role="search" onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          aria-label="Search sessions"
          placeholder="Search"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <select aria-label="State" value={state} onChange={({ target }) => setState(target.value)}>
          <option value="">all states</option>
          <option value="live">with a process</option>
          <option value="cold">without a process</option>
          <option value="stopped">stopped</option>
        </select>
      </form>
      {error && !data && (
        <Message title="The sessions cannot be shown" tone="bad">
          {error.message}
        </Message>
      )}
      {!shown && !error && (
        <p role="status" aria-busy="true">
          Loading the sessions…
        </p>
      )}
      {shown?.length === 0 && <Empty isFiltered={search !== '' || state !== ''} />}
      {shown && shown.length > 0 && <SessionTable sessions={shown} />}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Show older ones'}
        </button>
      )}
    </div>
  );
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Message title="No session fits">Change or clear the filters.</Message>;
  return (
    <Message title="There is no session yet">
      A session begins with its first message: here, or with <code>stemma send "…"</code>.
    </Message>
  );
}

function SessionTable({ sessions }: { readonly sessions: readonly Session[] }): ReactNode {
  return (
    <ul className={styles.list} aria-label="Sessions">
      {sessions.map((session) => {
        const { id, title, agent, cwd, lastActivityAt, project } = session;
        const state = sessionState(session);
        return (
          <li key={id} data-needs-person={session.waiting !== undefined || undefined}>
            <Link to="/sessions/$id" params={{ id }} className={styles.name}>
              <bdi>{plainLine(title ?? `${agent} session`, 120)}</bdi>
            </Link>
            <span className={styles.state}>
              {state && <StateMark state={state} />} <bdi>{sessionWords(session)}</bdi>
            </span>
            <span className={styles.facts}>
              <bdi>{plainLine(agent, 60)}</bdi>
              {project !== undefined && project !== 'default' && <bdi>{plainLine(project, 60)}</bdi>}
              <code>
                <bdi>{plainLine(cwd, 120)}</bdi>
              </code>
              <span className={styles.when}>
                <Age from={lastActivityAt} /> ago
              </span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function fits({ title, agent, cwd, id, project }: Session, search: string): boolean {
  const text = `${title} ${agent} ${cwd} ${id} ${project}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
