import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { demoAgentCommand } from '../e2e/built-program.ts';
import { waitFor } from '../e2e/wait-for.ts';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, phone, sees, textOf, type Visit } from './visit.ts';

/* One conversation: read, written to, steered, answered, stopped. */

const transcript = textOf('[aria-label="Transcript"]');

const script = {
  rules: [
    { when: '^work', do: [{ say: 'at work' }, { until: 'go' }, { say: 'finished' }] },
    {
      when: '^show',
      do: [
        { think: 'first a look' },
        { work: 'ls', ms: 10, output: 'README.md' },
        { say: '## Found\n\nThe **file** `README.md`, see [it](https://example.org/x)' },
      ],
    },
    {
      when: '^ask',
      do: [{ ask: 'May I push?', allowed: [{ say: 'pushed' }], denied: [{ say: 'left alone' }] }],
    },
    {
      when: '^many',
      do: Array.from({ length: 300 }, (_, n) => ({ work: `step ${n + 1}`, ms: 0, output: `done ${n + 1}` })),
    },
  ],
  otherwise: [{ say: 'ok: {{text}}' }],
};

/** A server with the demo agent and this script, and a session of it. */
async function withAgent(here: Visit): Promise<string> {
  const file = join(here.directory, 'script.json');
  writeFileSync(file, JSON.stringify(script));
  const agents = { talker: { driver: 'acp', onQuestion: 'ask', command: demoAgentCommand(file) } };
  await here.start('--config', here.configure({}, { agents }));
  const { id } = await here.client.call('createSession', {
    body: { agent: 'talker', cwd: here.directory, title: 'talk' },
  });
  return id;
}

/** Lets the agent that waits for it go on. */
function goOn(here: Visit): void {
  writeFileSync(join(here.directory, 'go'), '');
}

inChromium('a session on the page', (visit) => {
  visit('is written to, and shows what was said and done, without a reload', async (here) => {
    const { tab } = here;
    const id = await withAgent(here);
    await here.signIn();
    await here.open(`/sessions/${id}`);
    await tab.until(sees('Nothing was said yet'));
    await tab.read('window.isSame = true');
    await tab.click('textarea[aria-label="Message"]');
    await tab.type('show me');
    await tab.press('Enter', 'Control');
    await tab.until(
      `${transcript}.includes('Found') && document.querySelector('[aria-label="Transcript"] strong')`,
    );
    await tab.until(`document.querySelector('[data-told="message"] [data-state="succeeded"]')`);
    const order = `[...document.querySelectorAll('[aria-label="Transcript"] li')].map((row) => row.dataset.kind).join()`;
    expect(await tab.read(order)).toBe('told,thought,tool,said');
    const link = `(({ href, rel, target }) => [href, rel.includes('noreferrer'), target])(document.querySelector('[aria-label="Transcript"] article a[href^="https"]'))`;
    expect(await tab.read(link)).toEqual(['https://example.org/x', true, '_blank']);
    expect(await tab.read(transcript)).toContain('(example.org)');
    await tab.click('details summary');
    await tab.until(`document.querySelector('details[open]')`);
    expect(await tab.read('window.isSame')).toBe(true);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('session');
    await tab.resize(phone);
    await tab.until(fitsWidth);
    expect(await here.accessibilityFaults()).toEqual([]);
  });

  visit(
    'queues a message while a turn runs; it is dropped, or goes out; the turn is stopped',
    async (here) => {
      const { tab } = here;
      const id = await withAgent(here);
      await here.signIn();
      await here.open(`/sessions/${id}`);
      const send = async (text: string): Promise<void> => {
        await tab.click('textarea[aria-label="Message"]');
        await tab.type(text);
        await tab.press('Enter', 'Control');
      };
      await send('work hard');
      // While a turn runs, what is said is shown as it comes.
      await tab.until(`${transcript}.includes('at work')`);
      await send('the second');
      await tab.until(`document.querySelectorAll('[data-delivery="queued"]').length === 1`);
      await send('the third');
      await tab.until(`document.querySelectorAll('[data-delivery="queued"]').length === 2`);
      await tab.clickText('Drop');
      await tab.until(`document.querySelectorAll('[data-delivery="queued"]').length === 1`);
      goOn(here);
      await tab.until(`${transcript}.includes('finished') && ${transcript}.includes('ok: the third')`);
      expect(await tab.read(transcript)).not.toContain('ok: the second');
      expect(await tab.read(transcript)).toContain('never sent');
      await send('ask me');
      await tab.until(sees('May I push?'));
      await tab.clickText('Stop the turn');
      await tab.until(`!document.body.innerText.includes('Stop the turn')`);
      await tab.clickText('Stop the session');
      await tab.clickText('Stop the session');
      await tab.until(sees('It was stopped'));
      const { state } = await here.client.call('getSession', { id });
      expect(state).toBe('stopped');
    },
  );

  visit('asks, and is answered there, by keys alone', async (here) => {
    const { tab } = here;
    const id = await withAgent(here);
    await here.client.call('query', { body: { message: 'ask first', sessionId: id } });
    await here.signIn();
    await here.open(`/sessions/${id}`);
    await tab.until(sees('May I push?'));
    const focus = `document.activeElement.innerText.trim()`;
    for (let n = 0; n < 40 && (await tab.read(focus)) !== 'Allow'; n++) await tab.press('Tab');
    expect(await tab.read(focus)).toBe('Allow');
    await tab.press('Enter');
    await tab.until(
      `${transcript}.includes('pushed') && !document.body.innerText.includes('It asks something')`,
    );
  });

  visit('a read-only token sees it, and its controls say why they do nothing', async (here) => {
    const { tab } = here;
    const id = await withAgent(here);
    await here.client.call('query', { body: { message: 'ask now', sessionId: id } });
    await here.signIn(tab, 'read');
    await here.open(`/sessions/${id}`);
    await tab.until(sees('May I push?'));
    await tab.until(`document.querySelector('textarea[aria-label="Message"]').disabled`);
    const titles = `[...document.querySelectorAll('main button')].filter((one) => one.disabled).map((one) => one.title)`;
    await tab.until(`(${titles}).includes('You are signed in to read only.')`);
    expect(
      await tab.read(
        `[...document.querySelectorAll('section[aria-labelledby] button')].every((one) => one.disabled)`,
      ),
    ).toBe(true);
  });

  visit('two tabs on two sessions of one workflow: no event of one is in the other', async (here) => {
    const { tab } = here;
    const file = join(here.directory, 'script.json');
    writeFileSync(file, JSON.stringify(script));
    const command = demoAgentCommand(file);
    const steps = {
      left: { agent: 'talker', messages: ['left one', 'left two', 'left three'] },
      right: { agent: 'talker', messages: ['right one', 'right two', 'right three'] },
    };
    const config = here.configure({ both: { steps } }, { agents: { talker: { driver: 'acp', command } } });
    const { client } = await here.start('--config', config);
    await here.signIn();
    const { runId } = await client.call('runWorkflow', { id: 'both', body: { cwd: here.directory } });
    const sessions = await twoSessions(here);
    const other = await here.stranger();
    await here.signIn(other);
    await here.open(`/sessions/${sessions[0]}`, tab);
    await here.open(`/sessions/${sessions[1]}`, other);
    for (const each of [tab, other]) await each.until(`/three/.test(${transcript})`);
    const idsIn = `[...document.querySelectorAll('[data-told]')].map((one) => one.id).sort()`;
    for (const [index, each] of [tab, other].entries()) {
      const { items } = await client.call('getMessages', { id: sessions[index] ?? '' });
      const ours = items.map(({ executionId }) => executionId).sort();
      await each.until(`JSON.stringify(${idsIn}) === ${JSON.stringify(JSON.stringify(ours))}`);
      expect(ours).toHaveLength(3);
      const [mine, theirs] = (await each.read<string>(transcript))?.includes('left')
        ? ['left', 'right']
        : ['right', 'left'];
      expect(await each.read(transcript)).toContain(`${mine} three`);
      expect(await each.read(transcript)).not.toContain(theirs);
    }
    expect(await client.call('getRun', { id: runId })).toBeDefined();
  });

  visit('a long one is shown from its end, older parts as one goes up, and stays quick', async (here) => {
    const { tab } = here;
    const id = await withAgent(here);
    await here.client.call('query', { body: { message: 'many steps', sessionId: id } });
    await here.signIn();
    await here.open(`/sessions/${id}`);
    await tab.until(`${transcript}.includes('step 300')`);
    const box = `document.querySelector('[aria-label="Transcript"]')`;
    await tab.until(`${box}.scrollHeight - ${box}.scrollTop - ${box}.clientHeight < 80`);
    // However much there is, little of it is drawn.
    expect(await tab.read(`${box}.querySelectorAll('li').length`)).toBeLessThan(60);
    await here.client.call('query', { body: { message: 'say something', sessionId: id } });
    await tab.until(`${transcript}.includes('ok: say something')`);
    await tab.until(`(${box}.scrollTo({ top: 0 }), ${transcript}.includes('many steps'))`);
    await tab.until(`${box}.querySelector('li')?.innerText.includes('many steps')`);
    const steps = `[...${box}.querySelectorAll('li[data-kind="tool"]')].slice(0, 3).map((one) => one.innerText.match(/step \\d+/)[0]).join()`;
    expect(await tab.read(steps)).toBe('step 1,step 2,step 3');
  });
});

/** The sessions of the two steps, once both are there. */
function twoSessions(here: Visit): Promise<string[]> {
  return waitFor('two sessions', async () => {
    const { items } = await here.client.call('listSessions');
    return items.length === 2 ? items.map(({ id }) => id) : undefined;
  });
}
