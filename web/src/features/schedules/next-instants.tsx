import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { nextQuery } from '../../live/queries.ts';
import { Answered } from '../../ui/answered.tsx';
import { FromNow, Instant } from '../../ui/instant.tsx';
import { personZone } from '../../ui/instants.ts';
import view from '../../ui/view.module.css';

/** The next instants of a schedule, in the zone of whoever looks and in its own. */
export function NextInstants({ name }: { readonly name: string }): ReactNode {
  const query = useQuery(nextQuery(name, 5));
  const mine = personZone();
  return (
    <section className={view.section} aria-labelledby="next-title">
      <h2 id="next-title">Next instants</h2>
      <Answered query={query} what="the next instants">
        {({ items, timezone, note }) => (
          <>
            {note !== undefined && <p className={view.quiet}>{note}</p>}
            {items.length > 0 && (
              <div className={view.scroller}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">In</th>
                      <th scope="col">Yours ({mine})</th>
                      {timezone !== mine && <th scope="col">Its zone ({timezone})</th>}
                    </tr>
                  </thead>
                  <tbody>
                    {items.map(({ instant }) => (
                      <tr key={instant}>
                        <td>
                          <FromNow at={instant} />
                        </td>
                        <td>
                          <Instant at={instant} />
                        </td>
                        {timezone !== mine && (
                          <td>
                            <Instant at={instant} zone={timezone} />
                          </td>
                        )}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </>
        )}
      </Answered>
    </section>
  );
}
