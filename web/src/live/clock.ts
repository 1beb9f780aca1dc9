import { useSyncExternalStore } from 'react';
import { skewMs } from './ask.ts';

/** The present by the server's clock; milliseconds. */
export function serverNow(): number {
  return Date.now() + skewMs;
}

const listeners = new Set<() => void>();
let second = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  // A page that nobody looks at tells no time.
  if (document.hidden) return;
  second = Math.floor(serverNow() / 1_000) * 1_000;
  for (const listener of listeners) listener();
}

/** The present by the server's clock, whole seconds in milliseconds; the component is drawn anew with each. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => (second === 0 ? (second = serverNow()) : second));
}
