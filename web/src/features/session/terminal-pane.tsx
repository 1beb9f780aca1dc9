import type { ReactNode } from 'react';

/** PLACEHOLDER. */
export function TerminalPane({ sessionId }: { readonly sessionId: string }): ReactNode {
  return <p>{sessionId}</p>;
}
