import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import type { Waiting } from '../../../src/contract/execution.ts';
import { tell } from '../live/ask.ts';
import { useWhyNot } from '../live/who.ts';
import styles from './answer-form.module.css';
import { plainBlock, plainLine } from './plain.ts';

/** What is said in place of a question that has no words. */
const titles: Partial<Record<Waiting['for'], string>> = {
  input: 'It asks something',
  capacity: 'A usage limit is reached',
  login: 'Somebody has to sign in',
};
const limitChoices = [
  { id: 'resume', label: 'Try again now' },
  { id: 'giveUp', label: 'Give up' },
];

/** What an execution asks a person, or the limit it waits at, and the answer. Nothing for other kinds of waiting. */
export function AnswerForm({
  executionId,
  waiting,
}: {
  readonly executionId: string;
  readonly waiting: Waiting;
}): ReactNode {
  const { for: what, text, choices, questionId, until } = waiting;
  const title = useId();
  const client = useQueryClient();
  const whyNot = useWhyNot();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (answer: { choice: string } | { text: string }) =>
      tell(`/executions/${encodeURIComponent(executionId)}/answer`, {
        ...answer,
        ...(questionId === undefined ? {} : { questionId }),
      }),
    onSuccess: () => client.invalidateQueries(),
  });
  if (titles[what] === undefined) return null;
  const offered =
    what === 'input' ? (choices ?? []).map((id) => ({ id, label: plainLine(id, 80) })) : limitChoices;
  const isBlocked = isPending || whyNot !== undefined;
  return (
    <div role="group" className={styles.answer} aria-labelledby={title}>
      <p id={title} className={styles.title}>
        {titles[what]}
      </p>
      {text !== undefined && (
        <p className={styles.question} dir="auto">
          {plainBlock(text)}
        </p>
      )}
      {until !== undefined && <p className={styles.until}>until {new Date(until).toLocaleString()}</p>}
      {offered.length > 0 ? (
        <div className={styles.choices} role="group" aria-labelledby={title}>
          {offered.map(({ id, label }) => (
            <button
              key={id}
              type="button"
              value={id}
              disabled={isBlocked}
              title={whyNot}
              onClick={() => mutate({ choice: id })}
            >
              <bdi>{label}</bdi>
            </button>
          ))}
        </div>
      ) : (
        <FreeAnswer isBlocked={isBlocked} whyNot={whyNot} send={(said) => mutate({ text: said })} />
      )}
      {error && <p role="alert">{error.message}</p>}
    </div>
  );
}

function FreeAnswer({
  isBlocked,
  whyNot,
  send,
}: {
  readonly isBlocked: boolean;
  readonly whyNot: string | undefined;
  readonly send: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState('');
  return (
    <form
      className={styles.choices}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') send(text);
      }}
    >
      <textarea
        aria-label="Your answer"
        rows={2}
        value={text}
        disabled={isBlocked}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit" data-tone="first" disabled={isBlocked || text.trim() === ''} title={whyNot}>
        Answer
      </button>
    </form>
  );
}
