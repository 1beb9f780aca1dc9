import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { StemmaClient } from '../../src/client/stemma-client.ts';
import { StemmaProcess } from '../e2e/server-process.ts';
import { waitFor } from '../e2e/wait-for.ts';
import { Chromium, findChromium } from './chromium.ts';
import { isLive, rowsIn, textOf, Visit } from './visit.ts';

/* The page as people meet it: a real browser, a real server. */

const program = findChromium();
if (program === undefined) console.warn('SKIPPED: no Chromium on this machine; STEMMA_CHROMIUM names one.');

describe.skipIf(program === undefined)('the page', () => {
  let chromium: Chromium;
  beforeAll(async () => {
    chromium = await Chromium.open(program ?? '');
  });
  afterAll(() => chromium.close());

  const visit = (name: string, body: (visit: Visit) => Promise<void>): void =>
    test.concurrent(name, async () => {
      const begun = await Visit.begin(chromium);
      try {
        await body(begun);
      } finally {
        await begun.end();
      }
    });

  visit('a link signs in once, also from a page of another site, and lands on the page', async (here) => {
    const { tab } = here;
    const { ready, client } = await here.start();
    const { url } = await client.call('createSignInLink');
    // For a browser, localhost and 127.0.0.1 are two sites.
    const other = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end(`<a href="${url}">in</a>`),
    );
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      await tab.goTo(`http://localhost:${(other.address() as AddressInfo).port}/`);
      await tab.until(`document.querySelector('a')`);
      await tab.read(`document.querySelector('a').click()`);
      await tab.until(`location.href === '${ready.url}/' && ${isLive}`);
      expect(await tab.read(textOf('entries-message'))).toContain('Nothing was sent yet');
    } finally {
      other.closeAllConnections();
      other.close();
    }
    const stranger = await chromium.tab();
    await stranger.goTo(url);
    await stranger.until(`document.body.innerText.includes('does not work any more')`);
    await stranger.goTo(`${ready.url}/`);
    await stranger.until(`document.body.innerText.includes('stemma open')`);
  });

  visit('the demo is followed from its first message to its outcome, without a reload', async (here) => {
    const { tab, directory } = here;
    const demo = new StemmaProcess(['demo', '--data', directory, '--port', '0'], { cwd: directory });
    try {
      const link = await waitFor('the link', () => /http\S+signin\S+/.exec(demo.stderr)?.[0]);
      await tab.goTo(link);
      await tab.until(isLive);
      await tab.read(`window.isSame = true`);
      await tab.until(`${textOf('outcome')} === '● demo: running, 0 of 3 messages closed'`);
      await tab.until(`${rowsIn('unsent')} === 2 && ${textOf('rows')}.includes('not sent yet')`);
      await tab.until(`${rowsIn('open')} > 0 && ${rowsIn('running')} > 0`);
      const sign = `document.querySelector('#rows [data-state="open"] .symbol')?.innerText`;
      expect(await tab.read(sign)).toBe('◎');
      await tab.until(`${textOf('outcome')} === '✓ demo: succeeded, 3 of 3 messages closed'`);
      expect(await tab.read(`window.isSame`)).toBe(true);
      expect(await tab.read(`document.title`)).toBe('✓ demo: succeeded – Stemma');
      const told = await tab.accessibility();
      const items = told.filter(({ role }) => role === 'treeitem');
      expect(told.filter(({ role }) => role === 'tree')).toHaveLength(1);
      // Three messages, below each what it launched and the continuations that handled it.
      const messages = items.filter(({ level }) => level === 1).map(({ name }) => name);
      expect(messages).toHaveLength(3);
      expect(messages[0]).toMatch(/^message 1 of 3 Run the nightly checks\. succeeded \d+s /);
      expect(items).toContainEqual(
        expect.objectContaining({ level: 2, name: expect.stringMatching(/tests failed/) }),
      );
      await here.keepPictures('demo');
    } finally {
      await demo.signal('SIGTERM');
    }
  });

  visit(
    'the newest root is shown by itself, what was closed stays, an address keeps to one',
    async (here) => {
      const { tab } = here;
      await here.arrive();
      const first = await here.register('the first');
      await tab.until(`${textOf('outcome')} === '● the first: running'`);
      const second = await here.register('the second');
      await tab.until(`${textOf('outcome')} === '● the second: running'`);
      await here.settle(second.id, 'failed');
      await tab.until(`${textOf('outcome')} === '● the first: running'`);
      await tab.until(`/the second\\s+failed/.test(${textOf('entries')})`);
      await here.settle(first.id, 'succeeded');
      await tab.until(`/^✗ the second: failed/.test(${textOf('outcome')})`);
      await tab.until(`/the first\\s+succeeded/.test(${textOf('entries')})`);
      await tab.read(`location.hash = '${first.id}'`);
      await tab.until(`${textOf('outcome')} === '✓ the first: succeeded'`);
      await here.register('the third');
      await tab.until(`${textOf('entries')}.includes('the third')`);
      expect(await tab.read(textOf('outcome'))).toBe('✓ the first: succeeded');
      await tab.read(`document.getElementById('follow').click()`);
      await tab.until(`${textOf('outcome')} === '● the third: running'`);
      await tab.read(`location.hash = 'exe_7ZZZZZZZZZZZZZZZZZZZZZZZZZ'`);
      await tab.until(`${textOf('tree-message')}.includes('exe_7ZZZ')`);
      expect(await tab.read(isLive)).toBe(true);
    },
  );

  visit('a server that is killed is shown as gone, and comes back without a reload', async (here) => {
    const { tab } = here;
    await here.arrive();
    const { process, ready } = here.server;
    await here.register('before');
    await tab.until(`${textOf('outcome')} === '● before: running'`);
    await tab.read(`window.isSame = true`);
    await process.signal('SIGKILL');
    await tab.until(`${textOf('connection')}.startsWith('The server is gone')`);
    expect(await tab.read(`document.body.className`)).toBe('stale');
    expect(await tab.read(textOf('entries'))).toContain('before');
    await here.start('--port', new URL(ready.url).port);
    await tab.until(isLive);
    expect(await tab.read(`document.body.className`)).toBe('');
    await here.register('after');
    await tab.until(`${textOf('outcome')} === '● after: running'`);
    expect(await tab.read(`window.isSame`)).toBe(true);
  });

  visit('a hostile name is text: no HTML, no escape sequence, no other order of words', async (here) => {
    const { tab } = here;
    await here.arrive();
    const name = `<img src=x onerror="window.owned=1">\u202egnp\u2066.\x1b]0;owned\x07\x1b[31mred\u{e0041}</bdi>`;
    const { id } = await here.register(name);
    await tab.until(`${textOf('outcome')}.endsWith('running')`);
    const shown = await tab.read<string>('document.body.innerText + document.title');
    expect(shown).toContain('<img src=x onerror="window.owned=1">gnp.red </bdi>');
    expect(shown?.replace(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    expect(await tab.read('window.owned ?? document.images.length')).toBe(0);
    // Behind a name in letters that run from right to left, the state still stands at the right end of the row.
    await here.settle(id, 'succeeded');
    await here.register('שלום 123');
    await tab.until(`${textOf('outcome')}.includes('שלום')`);
    const order = `(() => { const at = (part) => document.querySelector('#rows ' + part).getBoundingClientRect().left;
      return at('.symbol') < at('.name') && at('.name bdi') < at('.word') && at('.word') < at('.age'); })()`;
    expect(await tab.read(order)).toBe(true);
  });

  visit('a run of a workflow shows its steps, and what one asks is answered by a button', async (here) => {
    const { tab } = here;
    const config = here.configure({
      failing: { steps: { one: { run: 'echo no room >&2; exit 3' }, two: { needs: ['one'], run: 'true' } } },
      asking: {
        steps: {
          approve: { question: 'Publish <b>it</b>?', choices: ['yes', 'no'] },
          publish: { needs: ['approve'], run: 'echo published' },
          place: { needs: ['publish'], run: 'true', outputs: { page: { command: 'echo /today.html' } } },
        },
      },
    });
    const { client } = await here.start('--config', config);
    await here.signIn();
    const begin = (id: string) => client.call('runWorkflow', { id, body: { cwd: here.directory } });
    await begin('failing');
    await tab.until(`${textOf('outcome')}.startsWith('✗ failing: failed')`);
    await tab.until(`${textOf('steps-summary')}.startsWith('2 of 2 steps ended, 1 failed')`);
    expect(await tab.read(textOf('steps'))).toMatch(/script one\s+failed[^]*no room[^]*script two\s+skipped/);
    const { runId } = await begin('asking');
    await tab.until(`${textOf('steps')}.includes('Publish <b>it</b>?')`);
    await tab.until(`${textOf('steps')}.includes('needs approve')`);
    await tab.read(`document.querySelector('#steps button[value="yes"]').click()`);
    await tab.until(`${textOf('outcome')}.startsWith('✓ asking: succeeded')`);
    await tab.until(`${textOf('steps')}.includes('page: /today.html')`);
    await tab.until(`${textOf('steps')}.includes('published') && !document.querySelector('#steps form')`);
    expect(await client.call('getRun', { id: runId })).toMatchObject({ outcome: 'succeeded' });
    await tab.read(`location.hash = ''`);
    await here.register('something else');
    await tab.until(`${textOf('outcome')} === '● something else: running'`);
    expect(await tab.read(`document.getElementById('steps-view').hidden`)).toBe(true);
    await here.keepPictures('workflow');
  });

  visit('2,000 rows: moved in by keys, and a change takes neither the focus nor long', async (here) => {
    const { tab } = here;
    const { ready } = await here.start();
    const { token = '' } = await here.register('many');
    const client = new StemmaClient({ url: ready.url, token }, systemClock);
    for (let n = 0; n < 2_000; n += 100)
      await Promise.all(Array.from({ length: 100 }, (_, i) => here.register(`row ${n + i}`, client)));
    await here.signIn();
    await tab.until(`document.querySelectorAll('#rows li').length === 2001`);
    await tab.read(`document.querySelector('#rows [tabindex="0"]').focus()`);
    const focused = 'document.activeElement.innerText';
    for (const [key, name] of [
      ['End', 'row 1999'],
      ['ArrowLeft', 'many'],
      ['ArrowRight', 'row 0'],
      ['ArrowDown', 'row 1'],
    ] as const) {
      await tab.press(key);
      await tab.until(`${focused}.includes('${name}')`, 2_000);
    }
    await here.settle((await here.register('one more', client)).id, 'succeeded', client);
    await tab.until(`${rowsIn('succeeded')} === 1`);
    expect(await tab.read(focused)).toContain('row 1');
    await here.keepPictures('many');
  });
});
