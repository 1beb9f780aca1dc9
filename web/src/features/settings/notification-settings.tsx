import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Notification, TargetTest } from '../../../../src/contract/notification.ts';
import type { Page } from '../../../../src/contract/page.ts';
import type { Settings } from '../../../../src/contract/settings.ts';
import { ask, tell } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';
import { Age } from '../../ui/age.tsx';
import { plainLine } from '../../ui/plain.ts';
import styles from './settings.module.css';

/** Who is told of transitions, whether that works, and what was told last. */
export function NotificationSettings({ targets }: Pick<Settings, 'targets'>): ReactNode {
  if (targets.length === 0)
    return (
      <p className={styles.quiet}>
        Nobody is told. Name targets under <code>notify</code> in <code>stemma.yaml</code>: a webhook, a
        command, a mail address, ntfy or Slack.
      </p>
    );
  return (
    <>
      <ul className={styles.list}>
        {targets.map((target) => (
          <Target key={target.name} target={target} />
        ))}
      </ul>
      <Told />
    </>
  );
}

function Target({
  target: { name, kind, always },
}: {
  readonly target: Settings['targets'][number];
}): ReactNode {
  const [came, setCame] = useState<TargetTest>();
  const test = async (): Promise<void> => {
    setCame(undefined);
    setCame(await tell<TargetTest>(`/notify/${encodeURIComponent(name)}/test`, {}));
  };
  return (
    <li>
      <b>{plainLine(name, 80)}</b> <span className={styles.quiet}>{kind}</span>
      {always && <span className={styles.quiet}>also of what has no schedule</span>}
      <span className={styles.end}>
        {came && (
          <span role="status" data-tone={came.sent ? 'good' : 'bad'}>
            {came.sent ? '✓ sent' : `✗ ${plainLine(came.message ?? 'not sent')}`}
          </span>
        )}
        <Action label="Send a test" run={test} />
      </span>
    </li>
  );
}

function Told(): ReactNode {
  const told = useQuery({
    queryKey: ['notifications'],
    queryFn: ({ signal }) => ask<Page<Notification>>('/notifications?limit=10', signal),
    meta: { touchedBy: (event) => event.type === 'alarm' || event.type.endsWith('.state') },
  });
  if (!told.data || told.data.items.length === 0) return null;
  return (
    <details>
      <summary>What was told last</summary>
      <ul className={styles.list}>
        {told.data.items.map(({ id, title, at, dispatches }) => (
          <li key={id}>
            <bdi>{plainLine(title, 200)}</bdi>
            <span className={styles.quiet}>
              {dispatches.map(({ target, state }) => `${target}: ${state}`).join(', ') || 'to nobody'}
            </span>
            <span className={styles.end}>
              <Age from={at} /> ago
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
