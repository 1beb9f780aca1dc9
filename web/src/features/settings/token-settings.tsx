import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Page } from '../../../../src/contract/page.ts';
import type { NewToken, Token } from '../../../../src/contract/token.ts';
import { ask, tell } from '../../live/ask.ts';
import { meQuery, useMay } from '../../live/who.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { Answered } from '../../ui/answered.tsx';
import { plainLine } from '../../ui/plain.ts';
import styles from './settings.module.css';

/** Who may call: named tokens and signed-in browsers; making and revoking them. */
export function TokenSettings(): ReactNode {
  const may = useMay('admin');
  const me = useQuery(meQuery());
  const tokens = useQuery({
    queryKey: ['tokens'],
    queryFn: ({ signal }) => ask<Page<Token>>('/tokens', signal),
    enabled: may && me.data !== undefined,
    meta: { touchedBy: () => false },
  });
  return (
    <section aria-labelledby="tokens-title">
      <h2 id="tokens-title">Tokens and browsers</h2>
      {may ? (
        <>
          <Answered query={tokens} what="the tokens">
            {({ items }) => <Tokens tokens={items} self={me.data?.name} />}
          </Answered>
          <MakeToken />
        </>
      ) : (
        <p className={styles.quiet}>Who may call is seen and decided by those who may administer.</p>
      )}
    </section>
  );
}

function Tokens({
  tokens,
  self,
}: {
  readonly tokens: readonly Token[];
  readonly self: string | undefined;
}): ReactNode {
  const client = useQueryClient();
  const valid = tokens.filter(({ revokedAt }) => revokedAt === undefined);
  const revoke = async (name: string): Promise<void> => {
    await tell(`/tokens/${encodeURIComponent(name)}`, {}, { method: 'DELETE' });
    await client.invalidateQueries({ queryKey: ['tokens'] });
  };
  return (
    <ul className={styles.list} aria-label="Tokens and browsers">
      {valid.map(({ name, kind, scope, createdAt, lastUsedAt }) => (
        <li key={name}>
          <b>
            <bdi>{plainLine(name, 80)}</bdi>
          </b>
          <span className={styles.quiet}>
            {kind === 'browser' ? 'browser, ' : ''}
            {scope}
            {name === self && ', this one'}
          </span>
          <span className={styles.end}>
            <span className={styles.quiet}>
              made <Age from={createdAt} /> ago
              {lastUsedAt !== undefined && (
                <>
                  , used <Age from={lastUsedAt} /> ago
                </>
              )}
            </span>
            <Action
              label={kind === 'browser' ? 'Sign out' : 'Revoke'}
              tone="bad"
              needs="admin"
              asks={name === self ? 'This signs you out here.' : 'Refuse it from now on?'}
              run={() => revoke(name)}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}

function MakeToken(): ReactNode {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Token['scope']>('operate');
  const { mutate, isPending, data, error, reset } = useMutation({
    mutationFn: () => tell<NewToken>('/tokens', { name: name.trim(), scope }),
    onSuccess: () => {
      setName('');
      return client.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  return (
    <form
      className={styles.make}
      aria-label="New token"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      <label>
        Name
        <input value={name} required maxLength={60} onChange={({ target }) => setName(target.value)} />
      </label>
      <label>
        May
        <select value={scope} onChange={({ target }) => setScope(target.value as Token['scope'])}>
          <option value="read">read</option>
          <option value="operate">operate</option>
          <option value="admin">admin</option>
        </select>
      </label>
      <button type="submit" disabled={isPending || name.trim() === ''}>
        Make a token
      </button>
      {error && <span role="alert">{error.message}</span>}
      {data && (
        <p className={styles.secret} role="status">
          <span>The token {plainLine(data.name, 80)}. It is shown this once:</span>
          <code>{data.token}</code>
          <button type="button" onClick={reset}>
            I have it
          </button>
        </p>
      )}
    </form>
  );
}
