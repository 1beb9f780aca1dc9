import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Waiting } from '../../../../src/contract/execution.ts';
import type { Page } from '../../../../src/contract/page.ts';
import type { SessionMessage } from '../../../../src/contract/session.ts';
import { ask } from '../../live/ask.ts';
import { type ReadTranscript, TranscriptReader } from './transcript-reader.ts';
import { type TranscriptRows, transcriptRows } from './transcript-rows.ts';

/** What is said has no event of its own: while a turn runs it is asked for so often. */
const whileBusyMs = 1_000;

const needsAnswer: ReadonlySet<Waiting['for']> = new Set(['input', 'capacity', 'login']);

/** What is shown of a session. */
export interface SessionRows extends TranscriptRows {
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly hasOlder: boolean;
  readonly readOlder: () => Promise<void>;
  /** What stands still until a person answers it. */
  readonly asking: readonly { readonly executionId: string; readonly waiting: Waiting }[];
}

/** Reads what a session said and was told, and keeps it new. `isBusy`: a turn runs. Use it for one session alone. */
export function useSessionRows(id: string, isBusy: boolean): SessionRows {
  const client = useQueryClient();
  const [reader] = useState(() => new TranscriptReader(id));
  const key = useMemo(() => ['transcript', id], [id]);
  const said = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => reader.readNewer(signal),
    refetchInterval: isBusy ? whileBusyMs : false,
    // The reader has what was read: another one begins anew.
    gcTime: 0,
    meta: { touchedBy: (event) => event.sessionId === id },
  });
  const told = useMessages(id, said.data);
  const readOlder = useCallback(async () => {
    client.setQueryData(key, await reader.readOlder());
  }, [client, key, reader]);
  const rows = useMemo(
    () => transcriptRows(said.data?.items ?? [], told.messages, said.data?.hasOlder === false),
    [said.data, told.messages],
  );
  return {
    ...rows,
    isLoading: said.data === undefined || told.isLoading,
    error: said.error ?? told.error,
    hasOlder: said.data?.hasOlder ?? false,
    readOlder,
    asking: told.messages.flatMap(({ executionId, waiting }) =>
      waiting && needsAnswer.has(waiting.for) ? [{ executionId, waiting }] : [],
    ),
  };
}

interface Messages {
  readonly messages: readonly SessionMessage[];
  readonly isLoading: boolean;
  readonly error: Error | null;
}

/** What it was told, as far back as the transcript is read. */
function useMessages(id: string, said: ReadTranscript | undefined): Messages {
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: ['messages', id],
    queryFn: ({ pageParam, signal }) =>
      ask<Page<SessionMessage>>(
        `/sessions/${encodeURIComponent(id)}/messages?limit=100${pageParam === '' ? '' : `&cursor=${pageParam}`}`,
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    meta: { touchedBy: (event) => event.sessionId === id },
  });
  const messages = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  const oldest = messages.at(-1)?.createdAt;
  const begin = said?.hasOlder ? said.items[0]?.at : '';
  const isShort = begin !== undefined && oldest !== undefined && oldest > begin;
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching) void fetchNextPage();
  }, [isShort, hasNextPage, isFetching, fetchNextPage]);
  return { messages, isLoading: data === undefined, error };
}
