import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type Needs, useWhyNot } from '../live/who.ts';
import styles from './action.module.css';

/**
 * A button that does something on the server. `asks`: it asks once more before it does it, in these words. What the server
 * refuses stands beside it until it is tried again. Who may not do it (`needs`) sees it, and why not.
 */
export function Action({
  label,
  run,
  asks,
  tone,
  needs = 'operate',
}: {
  readonly label: string;
  readonly run: () => Promise<unknown>;
  readonly asks?: string;
  readonly tone?: 'bad' | 'first';
  readonly needs?: Needs;
}): ReactNode {
  const whyNot = useWhyNot(needs);
  const [isAsking, setAsking] = useState(false);
  const { mutate, isPending, error } = useMutation({ mutationFn: run });
  const go = (): void => {
    setAsking(false);
    mutate();
  };
  if (isAsking)
    return (
      <span className={styles.action} role="group" aria-label={label}>
        <span>{asks}</span>
        <button type="button" data-tone={tone} onClick={go} ref={focus}>
          {label}
        </button>
        <button type="button" onClick={() => setAsking(false)}>
          No
        </button>
      </span>
    );
  return (
    <span className={styles.action}>
      <button
        type="button"
        data-tone={tone}
        disabled={isPending || whyNot !== undefined}
        title={whyNot}
        onClick={() => (asks === undefined ? go() : setAsking(true))}
      >
        {isPending ? `${label}…` : label}
      </button>
      {error && <span role="alert">{error.message}</span>}
    </span>
  );
}

function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}
