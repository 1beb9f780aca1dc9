import { expect } from 'vitest';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, phone, sees, textOf, type Visit } from './visit.ts';

const agents = { shell: { driver: 'script', command: ['sh'] } };

/** A server with a schedule of a file, which never comes by itself, and one of a person. */
async function withSchedules(here: Visit): Promise<void> {
  const messages = ['echo checked'];
  const yearly = { cron: '0 3 1 1 *', timezone: 'Asia/Tokyo', agent: 'shell', messages };
  await here.start('--config', here.configure({}, { agents, schedules: { yearly } }));
  await here.client.call('putSchedule', {
    id: 'page/hourly',
    body: { cron: '0 * * * *', timezone: 'Europe/Berlin', agent: 'shell', cwd: here.directory, messages },
  });
  await here.signIn();
}

const strip = `document.querySelector('ul[aria-label^="The latest instants"]')`;
const cells = (word: string): string => `${strip}?.querySelectorAll('button[aria-label*="${word}"]').length`;

/** Writes into the field of a label what a person would. */
async function fill({ tab }: Visit, name: string, text: string): Promise<void> {
  await tab.click(`[name="${name}"]`);
  await tab.press('a', 'Control');
  await tab.type(text);
}

inChromium('schedules', (visit) => {
  visit('say what to do where there are none; the first one is made on the page', async (here) => {
    const { tab } = here;
    await here.start('--config', here.configure({}, { agents }));
    await here.signIn();
    await here.open('/schedules');
    await tab.until(sees('There are no schedules yet'));
    await tab.clickText('New schedule');
    await tab.click('input[placeholder="nightly"]');
    await tab.type('first');
    await fill(here, 'cron', '0 2 * *');
    await fill(here, 'agent', 'shell');
    await fill(here, 'cwd', here.directory);
    await tab.click('textarea');
    await tab.type('echo hello');
    await tab.clickText('Show what would change');
    await tab.until(sees('has 4 fields'));
    await fill(here, 'cron', '0 2 * * *');
    await tab.clickText('Show what would change');
    await tab.until(sees('It would be due'));
    await tab.clickText('Make it');
    await tab.until(`location.pathname === '/schedules/default/first'`);
    await tab.until(sees('Next instants'));
    expect(await here.client.call('getSchedule', { id: 'first' })).toMatchObject({
      definition: { cron: '0 2 * * *', messages: [{ text: 'echo hello' }] },
    });
  });

  visit('are triggered, paused and resumed; each instant says what became of it', async (here) => {
    const { tab } = here;
    await withSchedules(here);
    await here.open('/schedules');
    await tab.until(`${sees('page/hourly')} && ${sees('page/yearly')}`);
    const row = (name: string): string => `article[aria-label="page/${name}"]`;
    await tab.until(`${textOf(row('yearly'))}.includes('from a file')`);
    await tab.click(`${row('hourly')} button:not([tabindex])`);
    await tab.until(`${cells('succeeded')} === 1`);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('schedules');
    await tab.clickText('page/hourly');
    await tab.until(sees('Next instants'));
    await tab.clickText('Pause');
    await tab.until(sees('paused on the page'));
    await tab.clickText('Resume');
    await tab.until(`!${sees('paused on the page')}`);
    await tab.clickText('Trigger');
    await tab.until(`location.pathname.startsWith('/runs/run_')`);
    await here.open('/schedules/page/hourly');
    await tab.until(`${cells('succeeded')} === 2`);
    await tab.until(`document.querySelector('canvas')`);
    const history = textOf('[aria-labelledby="history-title"]');
    await tab.until(`${history}.match(/manual/g)?.length === 2`);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('schedule');
  });

  visit('are backfilled: first which instants would run, then they run', async (here) => {
    const { tab } = here;
    await withSchedules(here);
    await here.open('/schedules/page/hourly');
    await tab.clickText('Backfill…');
    await tab.clickText('Show which');
    await tab.until(`/2[345] instants would run/.test(document.body.innerText)`);
    expect(await here.client.call('listOccurrences', { id: 'hourly' })).toMatchObject({ items: [] });
    const hoursAgo = `(hours) => { const at = new Date(Date.now() - hours * 3600000); return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16); }`;
    await tab.read(`(() => { const field = document.querySelector('input[type="datetime-local"]');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, (${hoursAgo})(2));
      field.dispatchEvent(new Event('input', { bubbles: true })); })()`);
    await tab.clickText('Show which');
    await tab.until(sees('2 instants would run'));
    await here.keepPictures('backfill');
    expect(await here.accessibilityFaults()).toEqual([]);
    await tab.clickText('Run these 2');
    await tab.until(sees('2 instants run now'));
    await tab.until(`${cells('(backfill)')} === 2 && ${cells('succeeded')} === 2`);
  });

  visit(
    'are edited: what is wrong is said, and what would be different is shown before it is so',
    async (here) => {
      const { tab } = here;
      await withSchedules(here);
      await here.open('/schedules/page/hourly');
      await tab.clickText('Edit…');
      await fill(here, 'timezone', 'Europe/Berlim');
      await tab.clickText('Show what would change');
      await tab.until(sees('did you mean Europe/Berlin?'));
      expect(await tab.read(`document.querySelector('[name="timezone"]').getAttribute('aria-invalid')`)).toBe(
        'true',
      );
      await fill(here, 'timezone', 'Europe/Berlin');
      await fill(here, 'cron', '30 4 * * *');
      await tab.clickText('Add a message');
      await tab.click('fieldset > div:nth-of-type(2) textarea');
      await tab.type('echo and more');
      await tab.clickText('Show what would change');
      await tab.until(
        `/cron\\s+− 0 \\* \\* \\* \\*\\s+\\+ 30 4 \\* \\* \\*/.test(${textOf('caption + thead + tbody')})`,
      );
      expect((await here.client.call('getSchedule', { id: 'hourly' })).revision).toBe(1);
      expect(await here.accessibilityFaults()).toEqual([]);
      await here.keepPictures('schedule-edit');
      await tab.clickText('Apply the change');
      await tab.until(`${sees('cron 30 4 * * *')} && ${sees('echo and more')}`);
      expect(await here.client.call('getSchedule', { id: 'hourly' })).toMatchObject({
        revision: 2,
        definition: { cron: '30 4 * * *', messages: [{ text: 'echo checked' }, { text: 'echo and more' }] },
      });
      await here.open('/schedules/page/yearly');
      await tab.until(sees('A file holds it'));
      const edit = `[...document.querySelectorAll('button')].find(({ innerText }) => innerText === 'Edit…')`;
      expect(await tab.read(`${edit}.disabled && ${edit}.title`)).toContain('stemma schedule apply');
    },
  );

  visit('fit a phone, and are reached by keys alone', async (here) => {
    const { tab } = here;
    await withSchedules(here);
    await here.client.call('triggerSchedule', { id: 'hourly', body: {} });
    await here.client.call('triggerSchedule', { id: 'hourly', body: {} }).catch(() => undefined);
    await tab.resize(phone);
    await here.open('/schedules');
    await tab.until(sees('page/hourly'));
    expect(await tab.read(fitsWidth)).toBe(true);
    await here.open('/schedules/page/hourly');
    await tab.until(`${cells('succeeded')} >= 1 && document.querySelector('canvas')`);
    expect(await tab.read(fitsWidth)).toBe(true);
    await tab.read(`${strip}.querySelector('button[tabindex="0"]').focus()`);
    await tab.press('Home');
    const shown = `getComputedStyle(document.activeElement, '::after').content`;
    await tab.until(`${shown}.includes('succeeded (triggered)')`);
    await tab.press('Enter');
    await tab.until(`location.pathname.startsWith('/runs/run_')`);
  });
});
