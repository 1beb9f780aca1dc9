import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Page } from '../../../../src/contract/page.ts';
import type { AgentView, Session } from '../../../../src/contract/session.ts';
import { sessionsQuery } from '../../live/queries.ts';
import { plainLine } from '../../ui/plain.ts';
import { waitingWords } from '../../ui/words.ts';
import { factsOf, standingOf } from './agent-words.ts';
import styles from './agents.module.css';

/** One agent: how it stands with it, what its profile says, and what it can prove. */
export function AgentCard({
  agent,
  isLooking,
}: {
  readonly agent: AgentView;
  readonly isLooking: boolean;
}): ReactNode {
  const { name, driver, isDefault, isBuiltIn, install, check, declared = [] } = agent;
  const standing = standingOf(agent);
  const isMissing = check?.found === false;
  return (
    <article className={styles.card} data-tone={standing.tone} aria-labelledby={`agent-${name}`}>
      <div className={styles.title}>
        <h2 id={`agent-${name}`}>
          <bdi>{plainLine(name, 80)}</bdi>
        </h2>
        <span className={styles.quiet}>
          {plainLine(driver, 40)}
          {check?.version === undefined ? '' : ` ${plainLine(check.version, 60)}`}
        </span>
        {isDefault && <span className={styles.label}>default</span>}
        {isBuiltIn && <span className={styles.label}>built in</span>}
        <span className={styles.standing} data-tone={standing.tone}>
          {isLooking && !check ? 'looking…' : standing.words}
        </span>
      </div>
      {check?.signedIn === 'no' && check.signIn !== undefined && (
        <p>
          Sign in on the machine of the server: <code>{plainLine(check.signIn)}</code>
        </p>
      )}
      {isMissing && install !== undefined && (
        <p className={styles.quiet}>
          Install it: <code>{plainLine(install)}</code>
        </p>
      )}
      {check && !isMissing && check.warnings.length > 0 && (
        <ul className={styles.warnings}>
          {check.warnings.map((warning) => (
            <li key={warning}>{plainLine(warning, 400)}</li>
          ))}
        </ul>
      )}
      <Limits name={name} />
      <details>
        <summary>Profile</summary>
        <dl className={styles.facts}>
          {factsOf(agent).map((fact) => (
            <div key={fact.name}>
              <dt>{fact.name}</dt>
              <dd>
                <code>
                  <bdi>{plainLine(fact.value, 300)}</bdi>
                </code>
              </dd>
            </div>
          ))}
        </dl>
      </details>
      <details>
        <summary>What it can prove</summary>
        <Capabilities name={name} declared={declared} />
      </details>
    </article>
  );
}

function Capabilities({
  name,
  declared,
}: {
  readonly name: string;
  readonly declared: NonNullable<AgentView['declared']>;
}): ReactNode {
  return (
    <div className={styles.capabilities}>
      <dl>
        {declared.map(({ name: of, value, meaning, cases }) => (
          <div key={of}>
            <dt>
              <code>{of}</code> <b>{String(value)}</b>
            </dt>
            <dd>
              {meaning}
              <span className={styles.quiet}>
                {cases.length === 0
                  ? ' (declared; no case can show it)'
                  : ` (checked by ${cases.join(', ')})`}
              </span>
            </dd>
          </div>
        ))}
      </dl>
      <p className={styles.quiet}>
        <code>stemma agent check {plainLine(name, 60)} --turn</code> runs these cases with the program that is
        installed.
      </p>
    </div>
  );
}

/** Sessions of the agent that stand still at a limit or a sign-in. */
function Limits({ name }: { readonly name: string }): ReactNode {
  const sessions = useQuery({ ...sessionsQuery({ state: 'live', limit: 100 }), select: limitedOf(name) });
  if (!sessions.data || sessions.data.length === 0) return null;
  return (
    <ul className={styles.warnings} aria-label="What stands still">
      {sessions.data.map(({ id, title, waiting }) => (
        <li key={id}>
          <Link to="/sessions/$id" params={{ id }}>
            <bdi>{plainLine(title ?? id, 80)}</bdi>
          </Link>{' '}
          waits {waiting ? waitingWords(waiting) : ''}
        </li>
      ))}
    </ul>
  );
}

function limitedOf(name: string): (page: Page<Session>) => Session[] {
  return ({ items }) => items.filter(({ agent, waiting }) => agent === name && waiting !== undefined);
}
