/** How the page looks: as the system says, or always dark or light. */
export type Scheme = 'system' | 'dark' | 'light';

const key = 'stemma.scheme';

/** What was chosen in this browser. */
export function chosenScheme(): Scheme {
  try {
    const kept = localStorage.getItem(key);
    return kept === 'dark' || kept === 'light' ? kept : 'system';
  } catch {
    // A browser that keeps nothing.
    return 'system';
  }
}

/** Shows the page so, now and from now on in this browser. */
export function chooseScheme(scheme: Scheme): void {
  try {
    if (scheme === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, scheme);
  } catch {
    // It is so until the page is left.
  }
  showScheme(scheme);
}

/** Shows the page so, for now. */
export function showScheme(scheme: Scheme): void {
  if (scheme === 'system') delete document.documentElement.dataset['scheme'];
  else document.documentElement.dataset['scheme'] = scheme;
}
