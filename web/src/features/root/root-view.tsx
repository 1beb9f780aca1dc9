import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function RootView(): ReactNode {
  useTitle('Root');
  return <h1>Root</h1>;
}
