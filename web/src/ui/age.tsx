import type { ReactNode } from 'react';
import { useNow } from '../live/clock.ts';
import { durationWords } from './words.ts';

/** How long something has lasted, or lasted: it grows while there is no end. Instants are RFC 3339. */
export function Age({ from, to }: { readonly from: string; readonly to?: string | undefined }): ReactNode {
  return to === undefined ? (
    <Growing from={from} />
  ) : (
    <Told ms={Date.parse(to) - Date.parse(from)} from={from} />
  );
}

function Growing({ from }: { readonly from: string }): ReactNode {
  return <Told ms={useNow() - Date.parse(from)} from={from} />;
}

function Told({ ms, from }: { readonly ms: number; readonly from: string }): ReactNode {
  return (
    <time dateTime={from} title={new Date(from).toLocaleString()}>
      {durationWords(ms)}
    </time>
  );
}
