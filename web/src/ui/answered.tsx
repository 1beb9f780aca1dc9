import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { AskError } from '../live/ask.ts';
import { Message } from './message.tsx';

/**
 * Shows what a query answered, in each of its states: loading, refused, empty, and there. What was there stays on the screen
 * while the server cannot be reached; the banner says that it is old.
 */
export function Answered<T>({
  query,
  what,
  isEmpty = () => false,
  empty = null,
  children,
}: {
  readonly query: UseQueryResult<T>;
  /** For "Loading …" and "… cannot be shown": `the runs`. */
  readonly what: string;
  readonly isEmpty?: (answer: T) => boolean;
  readonly empty?: ReactNode;
  readonly children: (answer: T) => ReactNode;
}): ReactNode {
  const { data, error } = query;
  if (data !== undefined) return isEmpty(data) ? empty : children(data);
  if (error === null)
    return (
      <p aria-busy="true" role="status">
        Loading {what}…
      </p>
    );
  // Whoever is not connected is told so by the banner; it loads as soon as that is over.
  if (error instanceof AskError && (error.status === 0 || error.status === 401))
    return <p>Loading {what} as soon as the server answers…</p>;
  return (
    <Message title={`${what.charAt(0).toUpperCase()}${what.slice(1)} cannot be shown`} tone="bad">
      {error.message}
    </Message>
  );
}
