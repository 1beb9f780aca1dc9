import type { ReactNode } from 'react';
import styles from './state-mark.module.css';
import { type Shown, signs } from './words.ts';

/** A state: its sign, its colour and, for those who see neither, its word. `word`: the word stands beside the sign. */
export function StateMark({
  state,
  word = false,
}: {
  readonly state: Shown;
  readonly word?: boolean;
}): ReactNode {
  return (
    <span className={styles.mark} data-state={state}>
      <span aria-hidden="true" className={styles.sign}>
        {signs[state]}
      </span>
      <span className={word ? undefined : styles.hidden}>{state}</span>
    </span>
  );
}
