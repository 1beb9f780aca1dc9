import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTitle } from '../../app/title.ts';
import { agentsQuery } from '../../live/queries.ts';
import { Answered } from '../../ui/answered.tsx';
import { Message } from '../../ui/message.tsx';
import { AgentCard } from './agent-card.tsx';
import { bySignIn } from './agent-words.ts';
import styles from './agents.module.css';

/** The agents that there are: what each can prove, whether its program is there, and whether somebody is signed in. */
export function AgentsView(): ReactNode {
  useTitle('Agents');
  const listed = useQuery(agentsQuery(false));
  const looked = useQuery(agentsQuery(true));
  const client = useQueryClient();
  const [search, setSearch] = useState('');
  return (
    <div className={styles.agents}>
      <div className={styles.head}>
        <h1>Agents</h1>
        <input
          type="search"
          aria-label="Search agents"
          placeholder="Search"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <button
          type="button"
          disabled={looked.isFetching}
          onClick={() => void client.invalidateQueries({ queryKey: ['agents', true] })}
        >
          {looked.isFetching ? 'Looking at each…' : 'Look again'}
        </button>
      </div>
      <Answered
        query={listed}
        what="the agents"
        isEmpty={({ items }) => items.length === 0}
        empty={
          <Message title="There is no agent">
            Name one under <code>agents</code> in <code>stemma.yaml</code>.
          </Message>
        }
      >
        {({ items }) => (
          <ul className={styles.list} aria-label="Agents">
            {bySignIn(looked.data?.items ?? items)
              .filter(({ name, driver }) => `${name} ${driver}`.toLowerCase().includes(search.toLowerCase()))
              .map((agent) => (
                <li key={agent.name}>
                  <AgentCard agent={agent} isLooking={looked.data === undefined && looked.isFetching} />
                </li>
              ))}
          </ul>
        )}
      </Answered>
    </div>
  );
}
