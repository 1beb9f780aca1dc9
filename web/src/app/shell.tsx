import { Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ConnectionBanner } from './connection-banner.tsx';
import { Icon } from './icons.tsx';
import styles from './shell.module.css';

const places = [
  { to: '/', name: 'Monitor', icon: 'monitor' },
  { to: '/runs', name: 'Runs', icon: 'runs' },
  { to: '/schedules', name: 'Schedules', icon: 'schedules' },
  { to: '/workflows', name: 'Workflows', icon: 'workflows' },
  { to: '/sessions', name: 'Sessions', icon: 'sessions' },
  { to: '/agents', name: 'Agents', icon: 'agents' },
  { to: '/settings', name: 'Settings', icon: 'settings' },
] as const;

/** What every view stands in: where one can go, and whether what is shown is as things are. */
export function Shell(): ReactNode {
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main" onClick={toMain}>
        Skip to the content
      </a>
      <header className={styles.bar}>
        <Link to="/" className={styles.brand}>
          <Icon name="stemma" />
          Stemma
        </Link>
        <nav aria-label="Views">
          <ul className={styles.places}>
            {places.map(({ to, name, icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  className={styles.place}
                  activeOptions={{ exact: to === '/' }}
                  activeProps={{ 'data-current': '' }}
                >
                  <Icon name={icon} />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <ConnectionBanner />
      <main id="main" tabIndex={-1} className={styles.main}>
        <Outlet />
      </main>
    </div>
  );
}

function toMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
