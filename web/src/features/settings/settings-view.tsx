import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Settings } from '../../../../src/contract/settings.ts';
import { useTitle } from '../../app/title.ts';
import { ask } from '../../live/ask.ts';
import { meQuery } from '../../live/who.ts';
import { Answered } from '../../ui/answered.tsx';
import { plainLine } from '../../ui/plain.ts';
import { Appearance } from './appearance.tsx';
import { NotificationSettings } from './notification-settings.tsx';
import styles from './settings.module.css';
import { StorageSettings } from './storage-settings.tsx';
import { TokenSettings } from './token-settings.tsx';

const settingsQuery = () =>
  queryOptions({
    queryKey: ['settings'],
    queryFn: ({ signal }) => ask<Settings>('/settings', signal),
    staleTime: 60_000,
    meta: { touchedBy: () => false },
  });

/** Who may call, who is told, what is kept, and how the page looks. */
export function SettingsView(): ReactNode {
  useTitle('Settings');
  const settings = useQuery(settingsQuery());
  const me = useQuery(meQuery());
  return (
    <div className={styles.settings}>
      <h1>Settings</h1>
      {me.data && (
        <p className={styles.quiet}>
          You are signed in as <bdi>{plainLine(me.data.name, 80)}</bdi>, who may <b>{me.data.scope}</b>.
        </p>
      )}
      <TokenSettings />
      <section aria-labelledby="told-title">
        <h2 id="told-title">Notifications</h2>
        <Answered query={settings} what="the targets">
          {({ targets }) => <NotificationSettings targets={targets} />}
        </Answered>
      </section>
      <section aria-labelledby="storage-title">
        <h2 id="storage-title">Storage</h2>
        <Answered query={settings} what="what is stored">
          {({ storage, dataDir }) => <StorageSettings storage={storage} dataDir={dataDir} />}
        </Answered>
      </section>
      <section aria-labelledby="looks-title">
        <h2 id="looks-title">Appearance</h2>
        <Appearance />
      </section>
      {settings.data && (
        <p className={styles.quiet}>
          Stemma {settings.data.version}
          {settings.data.publicUrl !== undefined && ` at ${plainLine(settings.data.publicUrl)}`}
        </p>
      )}
    </div>
  );
}
