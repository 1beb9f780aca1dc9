import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function RunView(): ReactNode {
  useTitle('Run');
  return <h1>Run</h1>;
}
