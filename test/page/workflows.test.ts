import { expect } from 'vitest';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, phone, sees, textOf, type Visit } from './visit.ts';

const workflows = {
  care: {
    description: 'looks after it',
    inputs: { day: { required: true }, mode: { enum: ['full', 'fast'], default: 'full' } },
    evaluation: 'score',
    steps: {
      fetch: { run: 'echo "fetched for $INPUT_DAY"' },
      look: { needs: ['fetch'], agent: 'demo', prompt: 'Summarise what the checks found.' },
      test: { needs: ['fetch'], run: 'test -e go || { echo no room >&2; exit 3; }' },
      publish: {
        needs: ['look', 'test'],
        run: 'echo published',
        outputs: { page: { command: 'echo /today.html' } },
      },
    },
  },
  score: {
    of: 'run',
    steps: { judge: { run: 'true', outputs: { points: { command: 'echo 7.5' } } } },
  },
  asking: {
    steps: {
      approve: { question: 'Publish <b>it</b>?', choices: ['yes', 'no'] },
      publish: { needs: ['approve'], run: 'echo published' },
    },
  },
  broken: { steps: { one: { run: 'true', needs: ['two'] } } },
};

const cell = (step: string, word: string): string => `td button[aria-label^="${step}: ${word}"]`;
const has = (selector: string): string => `document.querySelector(${JSON.stringify(selector)})`;

async function arriveWith(here: Visit): Promise<void> {
  await here.start('--config', here.configure(workflows));
  await here.signIn();
}

inChromium('workflows', (visit) => {
  visit(
    'are listed; one is started with its inputs, and its steps are followed and looked at',
    async (here) => {
      const { tab } = here;
      await arriveWith(here);
      await here.open('/workflows');
      await tab.until(`${sees('page/care')} && ${sees('cannot be run')} && ${sees('scored by score')}`);
      expect(await here.accessibilityFaults()).toEqual([]);
      await tab.clickText('page/care');
      await tab.until(sees('It has not run yet'));
      await tab.clickText('Start a run…');
      await tab.until(sees('day is needed'));
      await tab.click('input[name="day"]');
      await tab.type('Monday');
      await tab.click('input[name="cwd"]');
      await tab.type(here.directory);
      await here.keepPictures('workflow-start');
      await tab.clickText('Start it');
      await tab.until(`location.pathname.startsWith('/runs/run_')`);
      await tab.until(sees('It came to failed: STEP_FAILED'));
      const line = (name: string): string => textOf(`#step-${name} summary`);
      await tab.until(`${line('test')}.includes('failed') && ${line('publish')}.includes('skipped')`);
      await tab.click('#step-test summary');
      await tab.until(`${textOf('#step-test')}.includes('no room')`);
      await tab.click('#step-look summary');
      await tab.until(`${textOf('#step-look')}.includes('Summarise what the checks found.')`);
      expect(await here.accessibilityFaults()).toEqual([]);
      await here.keepPictures('run-workflow');
      const run = await here.client.call('listWorkflowRuns', { id: 'care' });
      expect(run.items[0]?.workflow?.inputs).toEqual({ day: 'Monday', mode: 'full' });
    },
  );

  visit(
    'their runs stand in a matrix; a step is opened, and done again; evaluations are shown',
    async (here) => {
      const { tab } = here;
      await arriveWith(here);
      const begin = () =>
        here.client.call('runWorkflow', {
          id: 'care',
          body: { cwd: here.directory, inputs: { day: 'Monday' } },
        });
      await begin();
      await here.open('/workflows/page/care');
      await tab.until(has(cell('test', 'failed')));
      await tab.until(has(cell('publish', 'skipped')));
      await tab.until(sees('Evaluations'));
      await here.client.call('runWorkflow', {
        id: 'care',
        body: { cwd: here.directory, inputs: { day: 'Tuesday' }, evaluation: false },
      });
      await tab.until(`document.querySelectorAll(${JSON.stringify(cell('test', 'failed'))}).length === 2`);
      await tab.read(`document.querySelector(${JSON.stringify(cell('test', 'failed'))}).focus()`);
      await tab.press('ArrowUp');
      await tab.press('Enter');
      await tab.until(`location.search.includes('step=look')`);
      await tab.until(`${textOf('#step-detail')}.includes('Summarise what the checks found.')`);
      const { items } = await here.client.call('listWorkflowRuns', { id: 'care' });
      expect(await tab.read('location.search')).toContain(items[0]?.id);
      await tab.click(cell('test', 'failed'));
      await tab.until(`${textOf('#step-title')} === 'test' && ${textOf('#step-detail')}.includes('no room')`);
      await here.keepPictures('workflow-matrix');
      const touch = { steps: { one: { run: 'touch go' } } };
      await here.client.call('runWorkflow', {
        id: 'touch',
        body: {
          cwd: here.directory,
          file: { path: `${here.directory}/touch.yaml`, text: JSON.stringify(touch) },
        },
      });
      await tab.clickText('Rerun from this step');
      await tab.press('Enter');
      await tab.until(`${has(cell('test', 'succeeded'))} && ${has(cell('publish', 'succeeded'))}`);
      await tab.until(
        `document.querySelectorAll('[aria-labelledby="evaluations-title"] canvas').length === 1`,
      );
      await tab.until(`${textOf('[aria-labelledby="evaluations-title"]')}.includes('7.5')`);
      await here.keepPictures('workflow');
      expect(await here.accessibilityFaults()).toEqual([]);
      await tab.resize(phone);
      expect(await tab.read(fitsWidth)).toBe(true);
    },
  );

  visit('the graph is gone along by keys; what a step asks is answered by a button', async (here) => {
    const { tab } = here;
    await arriveWith(here);
    const { runId } = await here.client.call('runWorkflow', { id: 'asking', body: { cwd: here.directory } });
    await here.open('/workflows/page/asking');
    await tab.until(has(cell('approve', 'waiting')));
    await tab.read(`document.querySelector('[data-step="approve"]').focus()`);
    await tab.press('ArrowRight');
    expect(await tab.read('document.activeElement.dataset.step')).toBe('publish');
    await tab.press('ArrowLeft');
    await tab.press('Enter');
    await tab.until(`document.activeElement.id === 'step-title'`);
    await tab.until(`${textOf('#step-detail')}.includes('Publish <b>it</b>?')`);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.open(`/runs/${runId}`);
    await tab.until(`${textOf('#step-approve')}.includes('Publish <b>it</b>?')`);
    await tab.clickText('yes');
    await tab.until(`${textOf('#step-publish summary')}.includes('succeeded')`);
    await tab.until(`document.querySelector('h1').parentElement.innerText.includes('succeeded')`);
    expect(await here.client.call('getRun', { id: runId })).toMatchObject({ outcome: 'succeeded' });
    await here.open('/workflows/page/broken');
    await tab.until(sees('It cannot be run'));
    expect(await tab.read(`document.querySelector('[aria-expanded]').disabled`)).toBe(true);
  });
});
