import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useState } from 'react';
import { AskError } from './ask.ts';
import { Freshness } from './freshness.ts';
import { type Connection, EventStream } from './stream.ts';

/** How often what nobody answered is asked again, and how long after the first time; milliseconds. */
const brokenTries = 3;
const brokenPauseMs = 300;

const ConnectionContext = createContext<Connection & { readonly tryAgain: () => void }>({
  state: 'connecting',
  tryAgain: () => undefined,
});

/** How the page is connected, and how to try again now. */
export function useConnection(): Connection & { readonly tryAgain: () => void } {
  return use(ConnectionContext);
}

/** Gives what is below it the server's answers, and keeps them as new as the ledger. */
export function Live({ children }: { readonly children: ReactNode }): ReactNode {
  const [connection, setConnection] = useState<Connection>({ state: 'connecting' });
  const [{ client, stream }] = useState(() => follow(setConnection));
  useEffect(() => {
    const connect = (): void => void stream.connect();
    // A browser keeps a page that one went on from, with its connections, of which it has six for a server.
    const leave = (): void => stream.end();
    const comeBack = (event: PageTransitionEvent): void => {
      if (event.persisted) connect();
    };
    addEventListener('online', connect);
    addEventListener('pagehide', leave);
    addEventListener('pageshow', comeBack);
    connect();
    return () => {
      removeEventListener('online', connect);
      removeEventListener('pagehide', leave);
      removeEventListener('pageshow', comeBack);
      stream.end();
    };
  }, [stream]);
  const tryAgain = (): void => void stream.connect();
  return (
    <ConnectionContext value={{ ...connection, tryAgain }}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </ConnectionContext>
  );
}

function follow(changed: (connection: Connection) => void): { client: QueryClient; stream: EventStream } {
  const client = createQueryClient();
  const freshness = new Freshness(client);
  const stream = new EventStream({
    reread: () => freshness.rereadAll(),
    heard: (event) => freshness.hear(event),
    changed,
  });
  return { client, stream };
}

// What was read stays true until an event says otherwise: nothing is asked for again because time has passed.
function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 5 * 60_000,
        // A connection that broke is no refusal: nothing else would ask again while the stream goes on.
        retry: (count, error) => count < brokenTries && error instanceof AskError && error.status === 0,
        retryDelay: (count) => brokenPauseMs * 2 ** count,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
}
