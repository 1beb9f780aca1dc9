import { type ReactNode, useState } from 'react';
import { chooseScheme, chosenScheme, type Scheme } from '../../ui/scheme.ts';
import styles from './settings.module.css';

const choices: readonly { readonly scheme: Scheme; readonly words: string }[] = [
  { scheme: 'system', words: 'as the system' },
  { scheme: 'light', words: 'light' },
  { scheme: 'dark', words: 'dark' },
];

/** How the page looks in this browser. */
export function Appearance(): ReactNode {
  const [scheme, setScheme] = useState(chosenScheme);
  return (
    <fieldset className={styles.choices}>
      <legend>In this browser the page is</legend>
      {choices.map(({ scheme: each, words }) => (
        <label key={each}>
          <input
            type="radio"
            name="scheme"
            value={each}
            checked={scheme === each}
            onChange={() => {
              chooseScheme(each);
              setScheme(each);
            }}
          />{' '}
          {words}
        </label>
      ))}
    </fieldset>
  );
}
