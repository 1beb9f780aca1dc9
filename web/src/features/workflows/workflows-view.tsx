import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function WorkflowsView(): ReactNode {
  useTitle('Workflows');
  return <h1>Workflows</h1>;
}
