import type { ReactNode } from 'react';
import type { Settings } from '../../../../src/contract/settings.ts';
import { plainLine } from '../../ui/plain.ts';
import { bytesWords } from './bytes-words.ts';
import styles from './settings.module.css';

/** What is kept, where, and how much room there is. */
export function StorageSettings({
  storage: { parts, freeBytes, lowBytes },
  dataDir,
}: {
  readonly storage: Settings['storage'];
  readonly dataDir: string;
}): ReactNode {
  const isLow = freeBytes !== undefined && lowBytes > 0 && freeBytes < lowBytes;
  return (
    <>
      <p className={styles.quiet}>
        In{' '}
        <code>
          <bdi>{plainLine(dataDir, 300)}</bdi>
        </code>
        {freeBytes !== undefined && (
          <>
            , with{' '}
            <span data-tone={isLow ? 'bad' : undefined} className={styles.free}>
              {bytesWords(freeBytes)} free
            </span>
            {isLow && ', which is little'}
          </>
        )}
      </p>
      <table>
        <thead>
          <tr>
            <th>What</th>
            <th className={styles.number}>Size</th>
            <th>Kept</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ name, what, bytes, isAtLeast }) => (
            <tr key={name}>
              <td>{name}</td>
              <td className={styles.number}>
                {isAtLeast ? 'over ' : ''}
                {bytesWords(bytes)}
              </td>
              <td className={styles.quiet}>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
