import { expect } from 'vitest';
import { inChromium } from './in-chromium.ts';
import { isLive, sees, textOf } from './visit.ts';

const rows = `document.querySelectorAll('[role="treegrid"] [data-key]').length`;
const keys = `[...document.querySelectorAll('[role="treegrid"] [data-key]')].map((one) => one.dataset.key)`;
const detail = textOf('aside');
const stateOf = (id: string): string => `document.querySelector('[data-key="${id}"]')?.dataset.state`;

inChromium('what is done with a tree', (visit) => {
  visit('a part is stopped, the rest goes on', async (here) => {
    const { tab } = here;
    await here.start();
    const root = await here.register('the whole');
    const client = here.clientOf(root.token);
    const part = await here.register('a part', client);
    const other = await here.register('another part', client);
    await here.signIn();
    await here.open(`/roots/${root.id}?at=${part.id}`);
    await tab.until(`${detail}.includes('a part')`);
    await tab.click('aside [data-tone="bad"]');
    await tab.until(sees('Stop it and everything below it?'));
    await tab.press('Enter');
    await tab.until(
      `document.querySelector('[aria-labelledby="holding-title"]')?.innerText.includes('cancelling')`,
    );
    // Outside work hears of it, and says that it has stopped.
    await here.client.call('settleExecution', { id: part.id, body: { state: 'cancelled' } });
    await tab.until(`${stateOf(part.id)} === 'cancelled' && ${stateOf(other.id)} === 'running'`);
    await tab.until(`${detail}.includes('stopped on the page')`);
  });

  visit('what failed in a run is tried again; its run goes on', async (here) => {
    const { tab } = here;
    const config = here.configure({
      flaky: { steps: { one: { run: 'test -e done || { touch done; echo no room >&2; exit 3; }' } } },
    });
    const { client } = await here.start('--config', config);
    await here.signIn();
    const { runId } = await client.call('runWorkflow', { id: 'flaky', body: { cwd: here.directory } });
    await tab.until(`/failed\\s+flaky/.test(${textOf('main')})`);
    await tab.clickText('flaky');
    await tab.until(`location.pathname.startsWith('/roots/') && ${sees('Retry')}`);
    const first = await tab.read<string>('location.pathname');
    await tab.until(`${rows} === 2`);
    await here.keepPictures('root-failed');
    await tab.clickText('Retry');
    await tab.until(sees('Go on with its run, from what failed?'));
    await tab.press('Enter');
    await tab.clickText('run, message 1');
    await tab.until(`location.pathname === '/runs/${runId}'`);
    await tab.until(sees('succeeded'));
    expect(await client.call('getRun', { id: runId })).toMatchObject({ outcome: 'succeeded' });
    expect(await tab.read('location.pathname')).not.toBe(first);
  });

  visit(
    'the stream is cut and the server restarted within a tree: nothing is lost, nothing twice',
    async (here) => {
      const { tab } = here;
      await here.start();
      const root = await here.register('the whole');
      const before = await here.register('before', here.clientOf(root.token));
      await here.signIn();
      await here.open(`/roots/${root.id}`);
      await tab.until(`${rows} === 2`);
      await tab.read('window.isSame = true');
      await here.stop('SIGKILL');
      await tab.until(sees('The server is gone'));
      expect(await tab.read(rows)).toBe(2);
      await here.start();
      const client = here.clientOf(root.token);
      await here.settle(before.id, 'succeeded');
      const during = await here.register('during', client);
      await tab.until(isLive);
      const after = await here.register('after', client);
      await tab.until(`${rows} === 4`);
      await here.stop('SIGTERM');
      await here.start();
      await here.settle(during.id, 'succeeded');
      await here.settle(after.id, 'failed');
      await tab.until(`${stateOf(during.id)} === 'succeeded' && ${stateOf(after.id)} === 'failed'`);
      expect(await tab.read(keys)).toEqual([root.id, before.id, during.id, after.id]);
      expect(await tab.read(stateOf(before.id))).toBe('succeeded');
      expect(await tab.read('window.isSame')).toBe(true);
    },
  );

  visit('a token that may only read sees everything, and can do nothing', async (here) => {
    const { tab } = here;
    await here.start();
    const root = await here.register('the whole');
    await here.signIn(tab, 'read');
    await here.open(`/roots/${root.id}`);
    await tab.until(`${rows} === 1`);
    await tab.until(`document.querySelector('header [data-tone="bad"]')?.disabled`);
    expect(await tab.read(`document.querySelector('header [data-tone="bad"]').title`)).toContain('read only');
    await here.register('a part', here.clientOf(root.token));
    await tab.until(`${rows} === 2`);
    expect(await here.accessibilityFaults()).toEqual([]);
  });
});
