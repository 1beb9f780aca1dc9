import { afterAll, beforeAll, describe, test } from 'vitest';
import { Chromium, findChromium } from './chromium.ts';
import { Visit } from './visit.ts';

/** One test: its name, and what happens in a visit of its own, which is ended for it. */
export type VisitTest = (name: string, body: (visit: Visit) => Promise<void>) => void;

/**
 * Tests of the page as people meet it: a real browser, a real server. Every test has a tab, a data directory and a server of its
 * own; the browser is one for the file. Without a Chromium they are skipped, and say so.
 */
export function inChromium(name: string, define: (visit: VisitTest) => void): void {
  const program = findChromium();
  if (program === undefined) console.warn('SKIPPED: no Chromium on this machine; STEMMA_CHROMIUM names one.');
  describe.skipIf(program === undefined)(name, () => {
    let chromium: Chromium;
    beforeAll(async () => {
      chromium = await Chromium.open(program ?? '');
    });
    afterAll(() => chromium.close());
    define((title, body) =>
      test(title, async () => {
        const visit = await Visit.begin(chromium);
        try {
          await body(visit);
        } finally {
          await visit.end();
        }
      }));
  });
}
