import { expect } from 'vitest';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, phone, sees, textOf } from './visit.ts';

const agents = { shell: { driver: 'script', command: ['sh'] } };
const messages = '[aria-labelledby="messages-title"] > ol > li';
const statesAre = (...states: string[]): string =>
  `JSON.stringify([...document.querySelectorAll('${messages}')].map(({ dataset }) => dataset.state)) === ${JSON.stringify(JSON.stringify(states))}`;

inChromium('runs', (visit) => {
  visit('a run is followed from its first message to its end, each with its tree', async (here) => {
    const { tab } = here;
    await here.arrive();
    await here.open('/runs');
    await tab.until(sees('Nothing has run yet'));
    const texts = ['Run the nightly checks.', 'Summarise what the checks found.', 'Say goodbye.'];
    const { runId } = await here.client.call('createRun', {
      body: { agent: 'demo', name: 'demo night', cwd: here.directory, messages: texts },
    });
    await tab.until(sees('demo night'));
    await tab.clickText('demo night');
    await tab.until(`location.pathname === '/runs/${runId}'`);
    await tab.read('window.isSame = true');
    await tab.until(statesAre('running', 'unsent', 'unsent'));
    // The tree of the first message grows: its answer has ended, what it started has not.
    await tab.until(statesAre('open', 'unsent', 'unsent'));
    await tab.until(`${textOf(messages)}.includes('held by')`);
    await tab.until(statesAre('succeeded', 'succeeded', 'succeeded'), 60_000);
    expect(await tab.read('window.isSame')).toBe(true);
    const first = (await tab.read<string>(textOf(messages))) ?? '';
    expect(first).toMatch(/agent tests\s[^]*continuation[^]*agent tests \(attempt 2\)/);
    expect(await tab.read('document.title')).toContain('✓ demo night');
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('run');
  });

  visit('a run that failed says so; it is resumed, and rerun from one of its messages', async (here) => {
    const { tab } = here;
    await here.start('--config', here.configure({}, { agents }));
    const { runId } = await here.client.call('createRun', {
      body: {
        agent: 'shell',
        name: 'three scripts',
        cwd: here.directory,
        messages: ['echo one >> ran', { text: 'echo two >> ran; test -e go', timeout: '1m' }, 'echo three'],
      },
    });
    await here.signIn();
    await here.open('/runs');
    await tab.until(`/failed\\s+three scripts/.test(${textOf('main')})`);
    await here.open(`/runs/${runId}`);
    await tab.until(statesAre('succeeded', 'failed', 'unsent'));
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.client.call('createRun', {
      body: { agent: 'shell', cwd: here.directory, messages: ['touch go'] },
    });
    await here.open('/runs');
    await tab.until(`document.querySelectorAll('tbody tr').length === 2 && ${sees('succeeded')}`);
    await here.keepPictures('runs');
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.open(`/runs/${runId}`);
    await tab.clickText('Resume');
    await tab.until(statesAre('succeeded', 'succeeded', 'succeeded'));
    await tab.clickText('Rerun from here');
    await tab.until(sees('Send message 1 and all behind it again?'));
    await tab.press('Enter');
    await tab.until(`${textOf(messages)}.includes('attempt 2')`);
    await tab.until(statesAre('succeeded', 'succeeded', 'succeeded'));
    const run = await here.client.call('getRun', { id: runId });
    expect(run.messages.map(({ attempts }) => attempts.length)).toEqual([2, 3, 2]);
    await tab.resize(phone);
    expect(await tab.read(fitsWidth)).toBe(true);
    await here.open('/runs');
    await tab.until(sees('three scripts'));
    expect(await tab.read(fitsWidth)).toBe(true);
  });

  visit('a run that is at work is stopped', async (here) => {
    const { tab } = here;
    await here.start('--config', here.configure({}, { agents }));
    const { runId } = await here.client.call('createRun', {
      body: {
        agent: 'shell',
        cwd: here.directory,
        messages: ['while true; do sleep 0.1; done', 'echo never'],
      },
    });
    await here.signIn();
    await here.open(`/runs/${runId}`);
    await tab.until(statesAre('running', 'unsent'));
    await tab.clickText('Stop');
    await tab.until(sees('Stop the run and the tree of its message?'));
    await tab.press('Enter');
    await tab.until(statesAre('cancelled', 'unsent'));
    await tab.until(sees('CANCELLED'));
  });
});
