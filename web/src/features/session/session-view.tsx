import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function SessionView(): ReactNode {
  useTitle('Session');
  return <h1>Session</h1>;
}
