import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { SessionMessage } from '../../../../src/contract/session.ts';
import { ErrorCode } from '../../ui/error-code.tsx';
import { plainBlock, plainLine } from '../../ui/plain.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { fateOf } from './message-fate.ts';
import styles from './session.module.css';
import type { TranscriptRow } from './transcript-rows.ts';

const Markdown = lazy(async () => ({ default: (await import('../../ui/markdown.tsx')).Markdown }));

/** What of a text is shown before one asks for all of it. */
const shownChars = 2_400;
const shownLines = 30;

/** One row of a transcript. `opened`: the keys of what is open; they are kept there. */
export function TranscriptRowView({
  row,
  opened,
}: {
  readonly row: TranscriptRow;
  readonly opened: Set<string>;
}): ReactNode {
  switch (row.kind) {
    case 'told':
      return <Told message={row.message} text={row.text} at={row.at} opened={opened} />;
    case 'typed':
      return (
        <article className={styles.told}>
          <p className={styles.head}>
            <b>Typed at its own screen</b>
            <At at={row.at} />
          </p>
          <LongText text={row.text} id={row.key} opened={opened} />
        </article>
      );
    case 'said':
      return (
        <article className={styles.said} aria-label="The agent">
          <Suspense fallback={<p className={styles.text}>{plainBlock(row.text)}</p>}>
            <Markdown text={row.text} />
          </Suspense>
          <At at={row.at} />
        </article>
      );
    case 'thought':
      return (
        <Folded id={row.key} opened={opened} summary={<i>{plainLine(row.text, 140)}</i>} label="Thought">
          <p className={styles.text}>{plainBlock(row.text)}</p>
        </Folded>
      );
    case 'tool':
      return <Tool row={row} opened={opened} />;
    case 'ended':
      return <Ended message={row.message} at={row.at} />;
  }
}

function Told({
  message,
  text,
  at,
  opened,
}: {
  readonly message: SessionMessage;
  readonly text: string;
  readonly at: string;
  readonly opened: Set<string>;
}): ReactNode {
  const { kind, name, executionId, rootId, textCut } = message;
  const fate = fateOf(message);
  const isContinuation = kind === 'continuation';
  return (
    <article className={styles.told} data-told={kind} data-delivery={message.delivery} id={executionId}>
      <p className={styles.head}>
        <b>{titleOf(message)}</b>
        {isContinuation && <bdi>{plainLine(name, 120)}</bdi>}
        <span className={styles.fate}>
          <StateMark state={fate.shown} /> <bdi>{fate.words}</bdi>
        </span>
        <Link to="/roots/$id" params={{ id: rootId }} search={{ at: executionId }}>
          tree
        </Link>
        <At at={at} />
      </p>
      {isContinuation ? (
        <Folded id={executionId} opened={opened} summary="what it was told" label="Result">
          <pre className={styles.block}>{plainBlock(text)}</pre>
        </Folded>
      ) : (
        kind !== 'late' && <LongText text={text} id={executionId} opened={opened} />
      )}
      {textCut && <p className={styles.quiet}>This is its beginning.</p>}
    </article>
  );
}

function titleOf({ kind, delivery }: SessionMessage): string {
  if (kind === 'late') return 'It worked by itself';
  const isSteered = delivery === 'steered';
  if (kind === 'continuation') return isSteered ? '⤷ Result, steered in' : '⤷ Result';
  return isSteered ? '⤷ Message, steered in' : 'Message';
}

function Tool({
  row: { key, at, call, result },
  opened,
}: {
  readonly row: Extract<TranscriptRow, { kind: 'tool' }>;
  readonly opened: Set<string>;
}): ReactNode {
  const summary = (
    <>
      <code className={styles.call}>{plainLine(call ?? result ?? '', 160)}</code>
      {call !== undefined && result === undefined && <span className={styles.quiet}> no result yet</span>}
    </>
  );
  return (
    <Folded id={key} opened={opened} summary={summary} label={call === undefined ? 'Result' : 'Tool'} at={at}>
      {call !== undefined && <pre className={styles.block}>{plainBlock(call)}</pre>}
      {result !== undefined && <pre className={styles.block}>{plainBlock(result) || '(nothing)'}</pre>}
    </Folded>
  );
}

function Ended({ message, at }: { readonly message: SessionMessage; readonly at: string }): ReactNode {
  const { error, state, name } = message;
  return (
    <article className={styles.ended}>
      <p className={styles.head}>
        <StateMark state={state === 'queued' ? 'queued' : state} word />
        <bdi>{plainLine(name, 100)}</bdi>
        {error && <ErrorCode code={error.code} />}
        <At at={at} />
      </p>
      {error && <p className={styles.text}>{plainBlock(error.message)}</p>}
    </article>
  );
}

/** Something that is not read by everybody: one line, and all of it when it is asked for. */
function Folded({
  id,
  opened,
  label,
  summary,
  at,
  children,
}: {
  readonly id: string;
  readonly opened: Set<string>;
  readonly label: string;
  readonly summary: ReactNode;
  readonly at?: string;
  readonly children: ReactNode;
}): ReactNode {
  const [isOpen, setOpen] = useState(opened.has(id));
  const toggle = (isNow: boolean): void => {
    if (isNow) opened.add(id);
    else opened.delete(id);
    setOpen(isNow);
  };
  return (
    <details
      className={styles.folded}
      open={isOpen}
      onToggle={({ currentTarget }) => toggle(currentTarget.open)}
    >
      <summary>
        <span className={styles.quiet}>{label}</span> <bdi>{summary}</bdi>
        {at !== undefined && <At at={at} />}
      </summary>
      {isOpen && children}
    </details>
  );
}

/** A text as it is; of a long one the beginning, until one asks for all of it. */
function LongText({
  text,
  id,
  opened,
}: {
  readonly text: string;
  readonly id: string;
  readonly opened: Set<string>;
}): ReactNode {
  const plain = plainBlock(text);
  const short = plain.slice(0, shownChars).split('\n').slice(0, shownLines).join('\n');
  const [isWhole, setWhole] = useState(opened.has(id));
  const isLong = short.length < plain.length;
  return (
    <>
      <p className={styles.text} dir="auto">
        {isWhole || !isLong ? plain : `${short}…`}
      </p>
      {isLong && !isWhole && (
        <button
          type="button"
          className={styles.more}
          onClick={() => {
            opened.add(id);
            setWhole(true);
          }}
        >
          Show all {plain.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  );
}

function At({ at }: { readonly at: string }): ReactNode {
  const time = new Date(at);
  return (
    <time className={styles.at} dateTime={at} title={time.toLocaleString()}>
      {time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}
    </time>
  );
}
