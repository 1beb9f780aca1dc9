import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Session } from '../../../../src/contract/session.ts';
import { tell } from '../../live/ask.ts';
import { agentsQuery } from '../../live/queries.ts';
import { useWhyNot } from '../../live/who.ts';
import { plainLine } from '../../ui/plain.ts';
import styles from './sessions.module.css';

/** Begins a conversation with an agent, and goes there. */
export function NewSession(): ReactNode {
  const agents = useQuery(agentsQuery(false));
  const [isOpen, setOpen] = useState(false);
  const [agent, setAgent] = useState('');
  const [cwd, setCwd] = useState('');
  const whyNot = useWhyNot();
  const navigate = useNavigate();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      tell<Session>('/sessions', {
        ...(agent === '' ? {} : { agent }),
        ...(cwd.trim() === '' ? {} : { cwd: cwd.trim() }),
      }),
    onSuccess: ({ id }) => navigate({ to: '/sessions/$id', params: { id } }),
  });
  if (!isOpen)
    return (
      <button type="button" disabled={whyNot !== undefined} title={whyNot} onClick={() => setOpen(true)}>
        New session
      </button>
    );
  return (
    <form
      className={styles.begin}
      aria-label="New session"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      <label>
        Agent
        <select value={agent} onChange={({ target }) => setAgent(target.value)}>
          {agents.data?.items.map(({ name, isDefault }) => (
            <option key={name} value={isDefault ? '' : name}>
              {plainLine(name, 60)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Directory
        <input
          value={cwd}
          placeholder="where the server runs"
          spellCheck={false}
          onChange={({ target }) => setCwd(target.value)}
        />
      </label>
      <button type="submit" data-tone="first" disabled={isPending}>
        Begin
      </button>
      <button type="button" onClick={() => setOpen(false)}>
        Cancel
      </button>
      {error && <span role="alert">{error.message}</span>}
    </form>
  );
}
