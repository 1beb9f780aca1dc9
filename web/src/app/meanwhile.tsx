import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { skewMs } from '../live/ask.ts';
import { executionsQuery } from '../live/queries.ts';
import type { Absence } from '../live/stream.ts';
import { durationWords } from '../ui/words.ts';
import { meanwhileWords } from './meanwhile-words.ts';

/** Executions that are looked at: of a longer absence the latest ones. */
const looked = 500;

/** What happened while nothing was heard, until a person has read it. */
export function Meanwhile({ absence }: { readonly absence: Absence }): ReactNode {
  const [read, setRead] = useState<number>();
  const { data } = useQuery(executionsQuery({ limit: looked }));
  const { since, until } = absence;
  if (read === until || !data) return null;
  const roots = data.items.filter(({ parentId }) => parentId === null);
  const words = meanwhileWords(roots, { since: since + skewMs, until: until + skewMs });
  return (
    <>
      <span>
        Nothing was heard for {durationWords(until - since)}. Meanwhile {words}
        {data.nextCursor === undefined ? '' : ` (of the latest ${looked} executions)`}.
      </span>
      <Link to="/runs">Runs</Link>
      <button type="button" onClick={() => setRead(until)}>
        Read
      </button>
    </>
  );
}
