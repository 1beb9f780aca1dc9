import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function AgentsView(): ReactNode {
  useTitle('Agents');
  return <h1>Agents</h1>;
}
