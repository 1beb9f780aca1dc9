import { type ReactNode, useState } from 'react';
import type { Holding, TreeView } from '../../../../src/contract/execution.ts';
import { evidenceWords } from '../../../../src/words/tree-words.ts';
import { useNow } from '../../live/clock.ts';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import { durationWords } from '../../ui/words.ts';
import styles from './root.module.css';

/** How many are named at first. */
const named = 4;

/** What keeps the root open, by name, with the evidence for it and until when it may last. */
export function RootHolding({
  view,
  onChoose,
}: {
  readonly view: TreeView;
  readonly onChoose: (key: string) => void;
}): ReactNode {
  const [showsAll, setShowsAll] = useState(false);
  const { holding, closed } = view;
  if (closed) return null;
  if (holding.length === 0)
    return (
      <p className={styles.holding} role="status">
        Nothing holds it: it is closing.
      </p>
    );
  const shown = showsAll ? holding : holding.slice(0, named);
  return (
    <section className={styles.holding} aria-labelledby="holding-title">
      <h2 id="holding-title">
        {holding.length === 1 ? 'Held open by' : `Held open by ${holding.length} things`}
      </h2>
      <ul>
        {shown.map((each, index) => (
          <li key={each.noticeId ?? each.executionId ?? index}>
            <HeldBy holding={each} view={view} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      {holding.length > named && (
        <button type="button" onClick={() => setShowsAll(!showsAll)} aria-expanded={showsAll}>
          {showsAll ? 'Fewer' : `${holding.length - named} more`}
        </button>
      )}
    </section>
  );
}

function HeldBy({
  holding,
  view,
  onChoose,
}: {
  readonly holding: Holding;
  readonly view: TreeView;
  readonly onChoose: (key: string) => void;
}): ReactNode {
  const { why, since, until, noticeId } = holding;
  const key = holding.executionId ?? view.notices.find(({ id }) => id === noticeId)?.executionId;
  const name = holding.name ?? view.executions.find(({ id }) => id === key)?.name ?? noticeId ?? key ?? '';
  const evidence = evidenceWords(holding);
  const shown = (
    <>
      {noticeId !== undefined && 'the result of '}
      <bdi>{plainLine(name, 120)}</bdi>
    </>
  );
  return (
    <>
      {key === undefined ? (
        <span>{shown}</span>
      ) : (
        <button type="button" className={styles.link} onClick={() => onChoose(key)}>
          {shown}
        </button>
      )}{' '}
      <span className={styles.why} data-why={why}>
        {why.replace(/^notice_/, 'result ').replaceAll('_', ' ')}
      </span>{' '}
      <span className={styles.quiet}>
        for <Age from={since} />
        {until !== undefined && <Until at={until} />}
        {evidence !== '' && <> · {plainLine(evidence, 240)}</>}
      </span>
    </>
  );
}

function Until({ at }: { readonly at: string }): ReactNode {
  const leftMs = Date.parse(at) - useNow();
  return (
    <>
      ,{' '}
      <time dateTime={at} title={new Date(at).toLocaleString()}>
        {leftMs > 0 ? `${durationWords(leftMs)} left` : 'its time is up'}
      </time>
    </>
  );
}
