import { expect } from 'vitest';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, isLive, phone, sees, textOf } from './visit.ts';

const names = `[...document.querySelectorAll('[aria-label="Live roots"] article a[href^="/roots/"]')].map((one) => one.innerText)`;
const showsOnly = (...expected: string[]): string =>
  `JSON.stringify(${names}) === ${JSON.stringify(JSON.stringify(expected))}`;

inChromium('the monitor', (visit) => {
  visit(
    'says what to do where nothing runs, and shows what begins and ends without a reload',
    async (here) => {
      const { tab } = here;
      await here.arrive();
      await tab.until(sees('Nothing runs'));
      expect(await tab.read(textOf('main'))).toContain('stemma send');
      await tab.read('window.isSame = true');
      const first = await here.register('the first');
      await tab.until(showsOnly('the first'));
      const second = await here.register('the second');
      await tab.until(showsOnly('the first', 'the second'));
      await here.settle(first.id, 'succeeded');
      await tab.until(showsOnly('the second'));
      await tab.until(`/succeeded\\s+the first/.test(${textOf('[aria-labelledby="recent-title"]')})`);
      await here.settle(second.id, 'failed');
      await tab.until(sees('Nothing runs'));
      expect(await tab.read('window.isSame')).toBe(true);
      expect(await here.accessibilityFaults()).toEqual([]);
    },
  );

  visit('what needs a person is first; it is found, opened and stopped', async (here) => {
    const { tab } = here;
    const config = here.configure({
      asking: { steps: { approve: { question: 'Publish it?', choices: ['yes', 'no'] } } },
    });
    await here.start('--config', config);
    const older = await here.register('an older one');
    await here.client.call('runWorkflow', { id: 'asking', body: { cwd: here.directory } });
    await here.signIn();
    await tab.until(showsOnly('asking', 'an older one'));
    await tab.until(sees('Publish it?'));
    expect(await tab.read('document.title')).toContain('(1)');
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('monitor-asks');
    await tab.click('[aria-label="Search what runs"]');
    await tab.type('older');
    await tab.until(showsOnly('an older one'));
    await tab.clickText('Stop');
    await tab.until(sees('Stop it and everything below it?'));
    await tab.press('Enter');
    // It is outside work, which hears by itself that it shall stop.
    await tab.until(sees('cancelling'));
    await here.settle(older.id, 'failed');
    await tab.until(`/cancelled\\s+an older one/.test(${textOf('[aria-labelledby="recent-title"]')})`);
    await tab.press('Escape');
    await tab.read(`document.querySelector('[aria-label="Search what runs"]').focus()`);
    await tab.press('a', 'Control');
    await tab.press('Backspace');
    await tab.until(showsOnly('asking'));
    await tab.clickText('asking');
    await tab.until(`location.pathname.startsWith('/roots/exe_')`);
  });

  visit(
    'a server that is killed is shown as gone, and what happened meanwhile is there after it',
    async (here) => {
      const { tab } = here;
      await here.arrive();
      const before = await here.register('before');
      await tab.until(showsOnly('before'));
      await tab.read('window.isSame = true');
      await here.stop('SIGKILL');
      await tab.until(sees('The server is gone'));
      expect(await tab.read(names)).toEqual(['before']);
      await here.start();
      await here.settle(before.id, 'succeeded');
      await here.register('after');
      await tab.until(isLive);
      await tab.until(showsOnly('after'));
      await tab.until(`/succeeded\\s+before/.test(${textOf('[aria-labelledby="recent-title"]')})`);
      expect(await tab.read('window.isSame')).toBe(true);
      // Whether it was back before or after these two is the clock's: the counting has tests of its own.
      await tab.until(sees('Nothing was heard for'));
      expect(await here.accessibilityFaults()).toEqual([]);
      await tab.clickText('Read');
      await tab.until(`!${sees('Nothing was heard for')}`);
    },
  );

  visit('on a phone nothing stands beside the window', async (here) => {
    const { tab } = here;
    await tab.resize(phone);
    await here.arrive();
    await here.register(`a_very_long_name_without_any_place_to_break_it_${'x'.repeat(100)}`);
    await tab.until(`${names}.length === 1`);
    expect(await tab.read(fitsWidth)).toBe(true);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('monitor-long');
  });
});
