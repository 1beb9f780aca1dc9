import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function RunsView(): ReactNode {
  useTitle('Runs');
  return <h1>Runs</h1>;
}
