import { queryOptions, useQuery } from '@tanstack/react-query';
import type { MeAnswer } from '../../../src/contract/requests.ts';
import { ask } from './ask.ts';

/** Who is signed in here. */
export const meQuery = () =>
  queryOptions({
    queryKey: ['me'],
    queryFn: ({ signal }) => ask<MeAnswer>('/me', signal),
    // Who signs in anew may do something else.
    meta: { touchedBy: () => false },
  });

/** What a control needs. `admin` includes `operate`. */
export type Needs = 'operate' | 'admin';

/** Whether who is signed in may do what needs this. Until it is known, nothing is held back: the server refuses anyway. */
export function useMay(needs: Needs): boolean {
  const { data } = useQuery(meQuery());
  return data === undefined || data.scope === 'admin' || data.scope === needs;
}

/** Why a control cannot be used by who is signed in; undefined where it can. */
export function useWhyNot(needs: Needs = 'operate'): string | undefined {
  const may = useMay(needs);
  if (may) return undefined;
  return needs === 'admin' ? 'This needs a token that may administer.' : 'You are signed in to read only.';
}
