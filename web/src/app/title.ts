import { useEffect } from 'react';

/** Says in the title of the window what is looked at. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Stemma' : `${title} – Stemma`;
  }, [title]);
}
