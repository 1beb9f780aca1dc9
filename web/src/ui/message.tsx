import type { ReactNode } from 'react';
import styles from './message.module.css';

/** What stands where there is nothing to show: why, and what to do next. `bad`: something went wrong. */
export function Message({
  title,
  children,
  tone = 'quiet',
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly tone?: 'quiet' | 'bad';
}): ReactNode {
  return (
    <div className={styles.message} data-tone={tone} role={tone === 'bad' ? 'alert' : undefined}>
      <h2>{title}</h2>
      {children !== undefined && <div>{children}</div>}
    </div>
  );
}
