import type { ReactNode } from 'react';
import styles from './root.module.css';

/** Goes to another execution of the tree. */
export function ToExecution({
  id,
  onChoose,
  children,
}: {
  readonly id: string;
  readonly onChoose: (key: string) => void;
  readonly children: string;
}): ReactNode {
  return (
    <button type="button" className={styles.link} onClick={() => onChoose(id)}>
      <bdi>{children}</bdi>
    </button>
  );
}
