import { Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ConnectionBanner } from './connection-banner.tsx';
import styles from './shell.module.css';

const places = [
  { to: '/', name: 'Monitor', sign: '◉' },
  { to: '/runs', name: 'Runs', sign: '▸' },
  { to: '/schedules', name: 'Schedules', sign: '◷' },
  { to: '/workflows', name: 'Workflows', sign: '⧉' },
  { to: '/sessions', name: 'Sessions', sign: '❏' },
  { to: '/agents', name: 'Agents', sign: '◇' },
  { to: '/settings', name: 'Settings', sign: '⚙' },
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
          Stemma
        </Link>
        <nav aria-label="Views">
          <ul className={styles.places}>
            {places.map(({ to, name, sign }) => (
              <li key={to}>
                <Link
                  to={to}
                  className={styles.place}
                  activeOptions={{ exact: to === '/' }}
                  activeProps={{ 'data-current': '' }}
                >
                  <span aria-hidden="true" className={styles.sign}>
                    {sign}
                  </span>
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
