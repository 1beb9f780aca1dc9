import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function SessionsView(): ReactNode {
  useTitle('Sessions');
  return <h1>Sessions</h1>;
}
