import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { demoAgentCommand } from '../e2e/built-program.ts';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, phone, sees, textOf } from './visit.ts';

inChromium('settings, agents, and hostile content', (visit) => {
  visit('tokens are made, shown once and revoked; how it looks is chosen', async (here) => {
    const { tab } = here;
    await here.arrive();
    await here.open('/settings');
    await tab.until(sees('Tokens and browsers'));
    await tab.click('[aria-label="New token"] input');
    await tab.type('ci');
    await tab.clickText('Make a token');
    await tab.until(`/stm_api_\\S+/.test(${textOf('[aria-label="New token"]')})`);
    await tab.until(`${textOf('ul[aria-label="Tokens and browsers"]')}.includes('ci')`);
    const { items } = await here.client.call('listTokens');
    expect(items.find(({ name }) => name === 'ci')).toMatchObject({ scope: 'operate', kind: 'token' });
    await tab.clickText('I have it');
    await tab.until(`!${textOf('[aria-label="New token"]')}.includes('stm_api_')`);
    await tab.until(sees('database'));
    await tab.click('input[value="dark"]');
    await tab.until(`getComputedStyle(document.body).backgroundColor === 'rgb(18, 21, 24)'`);
    await tab.click('input[value="system"]');
    await tab.until(`document.documentElement.dataset.scheme === undefined`);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('settings');
    await tab.resize(phone);
    await tab.until(fitsWidth);
  });

  visit('agents are shown with what each can prove', async (here) => {
    const { tab } = here;
    await here.arrive();
    await here.open('/agents');
    await tab.until(sees('demo'));
    await tab.clickText('What it can prove');
    await tab.until(sees('turnEnd'));
    await tab.until(`document.body.innerText.includes('Look again')`);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('agents');
    await tab.resize(phone);
    await tab.until(fitsWidth);
  });

  visit('names, prompts and answers full of markup, marks and sequences are text', async (here) => {
    const { tab } = here;
    const hostile = `<img src=x onerror="window.owned=1"><script>window.owned=1</script>\u202egnp\u2066\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07`;
    const long = 'x'.repeat(10_000_000);
    const script = {
      rules: [
        { when: 'long', do: [{ say: long }] },
        {
          when: '.',
          do: [
            { think: hostile },
            { work: hostile, ms: 0, output: `${hostile}${'y'.repeat(1_000_000)}` },
            {
              say: `${hostile}\n\n[a](javascript:window.owned=1) ![b](https://evil.example/b.png) <iframe src="https://evil.example"></iframe> [c](data:text/html,x)`,
            },
          ],
        },
      ],
    };
    const file = join(here.directory, 'script.json');
    writeFileSync(file, JSON.stringify(script));
    const agents = { talker: { driver: 'acp', command: demoAgentCommand(file) } };
    await here.start('--config', here.configure({}, { agents }));
    const { id } = await here.client.call('createSession', {
      body: { agent: 'talker', cwd: here.directory, title: hostile.replace(/\p{Cc}/gu, ' ') },
    });
    await here.client.call('query', { body: { message: `go ${hostile}`, sessionId: id } });
    await here.signIn();
    await here.open(`/sessions/${id}`);
    await tab.read(`(window.left = [], new PerformanceObserver((list) => left.push(...list.getEntries().map(({ name }) => name).filter((name) => !name.startsWith(location.origin)))).observe({ type: 'resource', buffered: true }),
      window.refused = [], document.addEventListener('securitypolicyviolation', (event) => refused.push(event.violatedDirective)))`);
    const transcript = textOf('[aria-label="Transcript"]');
    await tab.until(`${transcript}.includes('image: b')`);
    await here.client.call('query', { body: { message: 'long', sessionId: id } });
    await tab.until(`${transcript}.includes('xxxxxxxx')`);
    const shown = await tab.read<string>('document.body.innerText + document.title');
    expect(shown).toContain('<img src=x onerror="window.owned=1">');
    expect(shown?.replace(/[\n\t\r]/g, '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    expect(
      await tab.read(
        '[window.owned ?? null, document.images.length, document.querySelectorAll("iframe").length, left, refused]',
      ),
    ).toEqual([null, 0, 0, [], []]);
    const links = `[...document.querySelectorAll('main a')].every(({ href }) => href.startsWith('http'))`;
    expect(await tab.read(links)).toBe(true);
    await tab.until(fitsWidth);
    await tab.resize(phone);
    await tab.until(fitsWidth);
    // It still answers.
    await tab.click('textarea[aria-label="Message"]');
    await tab.type('alive');
    await tab.until(`document.querySelector('textarea').value === 'alive'`, 5_000);
  });
});
