import { expect } from 'vitest';
import { StemmaProcess } from '../e2e/server-process.ts';
import { waitFor } from '../e2e/wait-for.ts';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, isLive, phone, sees, textOf } from './visit.ts';

/** An expression: how many rows of the tree are in a state, of those that are drawn. */
const rowsIn = (state: string): string =>
  `document.querySelectorAll('[role="treegrid"] [data-key][data-state="${state}"]').length`;
const rows = `document.querySelectorAll('[role="treegrid"] [data-key]').length`;
const focusedRow = `document.activeElement?.closest('[data-key]')?.innerText ?? ''`;
const detail = textOf('aside');

inChromium('a tree', (visit) => {
  visit('is followed live from its first message to its close, without a reload', async (here) => {
    const { tab, directory } = here;
    const demo = new StemmaProcess(['demo', '--data', directory, '--port', '0'], { cwd: directory });
    try {
      const link = await waitFor('the link', () => /http\S+signin\S+/.exec(demo.stderr)?.[0]);
      await tab.goTo(link);
      await tab.until(isLive);
      await tab.click('[aria-label="Live roots"] article a[href*="/roots/"]');
      await tab.until(`location.pathname.startsWith('/roots/')`);
      await tab.read('window.isSame = true');
      await tab.until(`${rowsIn('running')} > 0 && ${rowsIn('open')} > 0`);
      await tab.until(sees('Held open by'));
      await here.keepPictures('root-live');
      await tab.until(`${textOf('h1 ~ div')}.includes('succeeded')`);
      expect(await tab.read('window.isSame')).toBe(true);
      await tab.until(`document.querySelectorAll('[role="treegrid"] svg > path').length > 0`);
      expect(await tab.read(rowsIn('running'))).toBe(0);
      expect(await tab.read(rows)).toBeGreaterThan(2);
      expect(await here.accessibilityFaults()).toEqual([]);
      await here.keepPictures('root-closed');
      await tab.clickText('Copy as text');
      await tab.until(sees('Copied') + ' || ' + sees('does not let'));
    } finally {
      await demo.signal('SIGTERM');
    }
  });

  visit('an address of a part is that of its tree, with its detail', async (here) => {
    const { tab } = here;
    await here.start();
    const root = await here.register('the whole');
    const client = here.clientOf(root.token);
    const child = await here.register('a part of it', client);
    await here.register('another part', client);
    await here.signIn();
    // The address of a part is that of its tree.
    await tab.goTo(`${here.server.ready.url}/roots/${child.id}`);
    await tab.until(`location.pathname === '/roots/${root.id}' && ${detail}.includes('a part of it')`);
    await tab.clickText('Stop');
    await tab.until(sees('Stop it and everything below it?'));
    expect(await here.accessibilityFaults()).toEqual([]);
  });

  visit('keyboard alone: through the rows, into the detail and back', async (here) => {
    const { tab } = here;
    await here.start();
    const root = await here.register('the whole');
    const client = here.clientOf(root.token);
    for (const name of ['one', 'two', 'three']) await here.register(name, client);
    await here.signIn();
    await here.open(`/roots/${root.id}`);
    await tab.until(`${rows} === 4`);
    for (let tabs = 0; tabs < 40 && !(await tab.read(`Boolean(${focusedRow})`)); tabs++)
      await tab.press('Tab');
    expect(await tab.read(focusedRow)).toContain('the whole');
    for (const [key, name] of [
      ['End', 'three'],
      ['ArrowUp', 'two'],
      ['ArrowLeft', 'the whole'],
      ['ArrowRight', 'one'],
    ] as const) {
      await tab.press(key);
      await tab.until(`(${focusedRow}).includes('${name}')`);
    }
    await tab.press('Enter');
    await tab.until(`${detail}.includes('outside one') && document.activeElement.tagName === 'ASIDE'`);
    await tab.press('Escape');
    await tab.until(`!document.querySelector('aside') && (${focusedRow}).includes('one')`);
    await tab.press('Home');
    await tab.press('ArrowLeft');
    await tab.until(`${rows} === 1`);
    await tab.press('ArrowRight');
    await tab.until(`${rows} === 4`);
    await tab.press('+');
    await tab.until(`/zoom=\\d+-\\d+/.test(location.search)`);
    await tab.press('0');
    await tab.until(`!location.search.includes('zoom')`);
  });

  visit('on a phone name and bar stand under each other, and nothing beside the window', async (here) => {
    const { tab } = here;
    await tab.resize(phone);
    await here.start();
    const root = await here.register('the whole');
    const client = here.clientOf(root.token);
    await here.register(`a_name_without_a_place_to_break_${'x'.repeat(100)}`, client);
    await here.signIn();
    await here.open(`/roots/${root.id}`);
    await tab.until(`${rows} === 2`);
    expect(await tab.read(fitsWidth)).toBe(true);
    await tab.click('[data-place="1"]');
    await tab.until(`${detail}.includes('Facts')`);
    expect(await tab.read(fitsWidth)).toBe(true);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('root-phone-detail');
  });
});
