import type { ReactNode } from 'react';
import { useNow } from '../live/clock.ts';
import { instantIn, personZone } from './instants.ts';
import view from './view.module.css';
import { durationWords } from './words.ts';

/** An instant (RFC 3339) in the zone of whoever looks, or in another one. */
export function Instant({ at, zone }: { readonly at: string; readonly zone?: string }): ReactNode {
  return (
    <time dateTime={at} title={at} className={view.instant}>
      {instantIn(at, zone ?? personZone())}
    </time>
  );
}

/** How far away an instant is: `in 3h05m`, `12s ago`. It goes with the clock. */
export function FromNow({ at }: { readonly at: string }): ReactNode {
  const ms = Date.parse(at) - useNow();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className={view.instant}>
      {ms >= 1_000 ? `in ${durationWords(ms)}` : `${durationWords(-ms)} ago`}
    </time>
  );
}
