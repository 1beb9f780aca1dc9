import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function SettingsView(): ReactNode {
  useTitle('Settings');
  return <h1>Settings</h1>;
}
