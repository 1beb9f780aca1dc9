import { expect } from 'vitest';
import type { Tab } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, phone, sees } from './visit.ts';

const agents = { shell: { driver: 'script', command: ['sh'] } };
const disabled = (name: string): string =>
  `(() => { const all = [...document.querySelectorAll('button')].filter(({ innerText }) => innerText === ${JSON.stringify(name)}); return all.length > 0 && all.every(({ disabled }) => disabled); })()`;

/** Presses Tab until what has the focus is called so. */
async function tabTo(tab: Tab, name: string): Promise<void> {
  const focused = `(document.activeElement?.innerText ?? '').trim()`;
  for (let presses = 0; presses < 120; presses++) {
    await tab.press('Tab');
    if ((await tab.read<string>(focused)) === name) return;
  }
  throw new Error(
    `${name} is not reached by Tab; there was ${await tab.read<string>('document.body.innerText')}`,
  );
}

inChromium('schedules, runs and workflows', (visit) => {
  visit('for a token that only reads, controls are there, and say why they cannot be used', async (here) => {
    const hourly = { cron: '0 * * * *', agent: 'shell', messages: ['echo hello'] };
    const config = here.configure(
      { care: { steps: { one: { run: 'true' } } } },
      { agents, schedules: { hourly } },
    );
    await here.start('--config', config);
    const { runId } = await here.client.call('runWorkflow', { id: 'care', body: { cwd: here.directory } });
    const tab = await here.stranger();
    await here.signIn(tab, 'read');
    await here.open('/schedules', tab);
    await tab.until(`${sees('page/hourly')} && ${disabled('Trigger')} && ${disabled('Pause')}`);
    await tab.until(disabled('New schedule'));
    const title = `[...document.querySelectorAll('button')].find(({ innerText }) => innerText === 'New schedule').title`;
    expect(await tab.read(title)).toContain('read only');
    await here.open('/schedules/page/hourly', tab);
    await tab.until(`${disabled('Backfill…')} && ${disabled('Remove')}`);
    await here.open('/workflows/page/care', tab);
    await tab.until(disabled('Start a run…'));
    await here.open(`/runs/${runId}`, tab);
    await tab.until(`${sees('What each did')} && ${sees('succeeded')}`);
    await tab.click('#step-one summary');
    await tab.until(disabled('Rerun from this step'));
  });

  visit('from the first page to a message that is sent again, by keys alone', async (here) => {
    const { tab } = here;
    await here.start('--config', here.configure({}, { agents }));
    await here.client.call('putSchedule', {
      id: 'page/hourly',
      body: { cron: '0 * * * *', agent: 'shell', cwd: here.directory, messages: ['echo hello'] },
    });
    await here.signIn();
    await tabTo(tab, 'Schedules');
    await tab.press('Enter');
    await tab.until(sees('page/hourly'));
    await tabTo(tab, 'page/hourly');
    await tab.press('Enter');
    await tab.until(sees('Next instants'));
    await tabTo(tab, 'Trigger');
    await tab.press('Enter');
    await tab.until(`location.pathname.startsWith('/runs/run_')`);
    await tab.until(sees('Rerun from here'));
    await tabTo(tab, 'Rerun from here');
    await tab.press('Enter');
    await tab.until(sees('Send message 1 and all behind it again?'));
    await tab.press('Enter');
    await tab.until(sees('attempt 2'));
    await tab.resize(phone);
    expect(await tab.read(fitsWidth)).toBe(true);
  });
});
