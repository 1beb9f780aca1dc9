import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function WorkflowView(): ReactNode {
  useTitle('Workflow');
  return <h1>Workflow</h1>;
}
