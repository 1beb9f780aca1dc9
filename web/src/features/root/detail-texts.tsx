import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Execution } from '../../../../src/contract/execution.ts';
import { toldQuery } from '../../live/told.ts';
import { ErrorCode } from '../../ui/error-code.tsx';
import { plainBlock } from '../../ui/plain.ts';
import styles from './root.module.css';

/** What it was told, what it answered, and why it failed. What agents wrote stands there as text. */
export function DetailTexts({ execution }: { readonly execution: Execution }): ReactNode {
  const { error, result, cancelReason, outcomeCode } = execution;
  return (
    <>
      {error && (
        <section>
          <h3>Why it failed</h3>
          <p className={styles.bad}>
            <ErrorCode code={error.code} />
          </p>
          <Text text={error.message} />
        </section>
      )}
      {outcomeCode !== undefined && outcomeCode !== error?.code && outcomeCode !== 'CANCELLED' && (
        <p className={styles.bad}>
          <ErrorCode code={outcomeCode} />
        </p>
      )}
      {cancelReason !== undefined && (
        <section>
          <h3>Why it was stopped</h3>
          <Text text={cancelReason} />
        </section>
      )}
      <Told execution={execution} />
      {result !== undefined && result !== '' && (
        <section>
          <h3>Result</h3>
          <Text text={result} />
        </section>
      )}
    </>
  );
}

/** The prompt, of what has one. */
function Told({ execution }: { readonly execution: Execution }): ReactNode {
  const query = useQuery(toldQuery(execution));
  const { data, isLoading, error } = query;
  if (isLoading) return <p aria-busy="true">Loading what it was told…</p>;
  if (error) return <p className={styles.quiet}>What it was told cannot be shown: {error.message}</p>;
  if (!data) return null;
  return (
    <section>
      <h3>{data.what}</h3>
      <Text text={data.text} />
      {data.isCut && <p className={styles.quiet}>This is its beginning.</p>}
    </section>
  );
}

function Text({ text }: { readonly text: string }): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a long text is scrolled by keys
    <pre className={styles.text} tabIndex={0} dir="auto">
      {plainBlock(text)}
    </pre>
  );
}
