import { join } from 'node:path';
import { expect } from 'vitest';
import type { Tab } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, phone, textOf, type Visit } from './visit.ts';

const program = join(import.meta.dirname, 'screen-agent.program.mjs');
const screen = textOf('.xterm-rows');
const place = textOf('#terminal-state');
const owns = `document.querySelector('#terminal-state')?.dataset.owner === 'true'`;

/** A server with an agent that has a screen of its own, and a session of it. */
async function withScreen(here: Visit): Promise<string> {
  const env = { CLAUDE_CONFIG_DIR: here.directory };
  const agents = { screen: { driver: 'terminal', command: [process.execPath, program], env } };
  await here.start('--config', here.configure({}, { agents }));
  const { id } = await here.client.call('createSession', { body: { agent: 'screen', cwd: here.directory } });
  return id;
}

/** Opens the terminal of a session, and notes what the policy of the page refuses. */
async function openTerminal(here: Visit, id: string, tab: Tab): Promise<void> {
  await here.signIn(tab);
  await here.open(`/sessions/${id}`, tab);
  await tab.read(`(window.refused = [], document.addEventListener('securitypolicyviolation',
    (event) => refused.push(event.violatedDirective + ' ' + event.blockedURI)), window.isSame = true)`);
  await tab.until(`document.querySelector('#tab-terminal')`);
  await tab.click('#tab-terminal');
  await tab.until(`${screen}.includes('❯')`);
}

/** Types a line at the terminal, as a person does. */
async function typeLine(tab: Tab, text: string): Promise<void> {
  await tab.read(`document.querySelector('.xterm-helper-textarea').focus()`);
  await tab.type(text);
  await tab.press('Enter');
}

inChromium('the terminal on the page', (visit) => {
  visit('shows the screen of the agent, and types into it, under the policy of the page', async (here) => {
    const { tab } = here;
    await openTerminal(here, await withScreen(here), tab);
    await tab.until(owns);
    await typeLine(tab, 'hello there');
    await tab.until(`${screen}.includes('typed hello there')`);
    // A colour that is no class of the renderer, which it styles by an attribute.
    const colour = Buffer.from('\x1b[38;2;1;2;250mblue').toString('hex');
    await typeLine(tab, `say ${colour}`);
    const isBlue = `[...document.querySelectorAll('.xterm-rows span')].some((span) => span.textContent === 'blue' && getComputedStyle(span).color === 'rgb(1, 2, 250)')`;
    await tab.until(isBlue);
    expect(await tab.read('refused')).toEqual([]);
    expect(await here.accessibilityFaults()).toEqual([]);
    await here.keepPictures('terminal');
    // The keyboard is given back.
    await tab.read(`document.querySelector('.xterm-helper-textarea').focus()`);
    await tab.press('Escape', 'Control', 'Alt');
    await tab.until(`document.activeElement.id === 'tab-terminal'`);
    await tab.resize(phone);
    await tab.until(fitsWidth);
    await tab.until(`/size \\d\\dx/.test(${screen})`);
  });

  visit('is owned by one: another one watches in its size, and takes it over', async (here) => {
    const { tab } = here;
    const id = await withScreen(here);
    await openTerminal(here, id, tab);
    await tab.until(owns);
    await typeLine(tab, 'mine');
    const other = await here.stranger();
    await other.resize({ width: 1200, height: 900 });
    await openTerminal(here, id, other);
    await other.until(`${place}.includes('somebody else has the terminal')`);
    await other.until(`${screen}.includes('typed mine')`);
    await typeLine(other, 'not mine');
    await typeLine(tab, 'still mine');
    await other.until(`${screen}.includes('typed still mine')`);
    expect(await other.read(screen)).not.toContain('not mine');
    await other.clickText('Take over');
    await other.until(owns);
    await tab.until(`${place}.includes('somebody else has the terminal')`);
    await typeLine(other, 'now mine');
    await tab.until(`${screen}.includes('typed now mine')`);
    // Who leaves gives it up.
    await other.goTo('about:blank');
    await tab.until(`${place}.includes('nobody has the terminal')`);
    await tab.clickText('Take it');
    await tab.until(owns);
  });

  visit('comes back after a break, with what had scrolled away', async (here) => {
    const { tab } = here;
    await openTerminal(here, await withScreen(here), tab);
    await tab.until(owns);
    await typeLine(tab, 'lines 300');
    await tab.until(`${screen}.includes('line 300')`);
    await here.stop('SIGKILL');
    await tab.until(`${place}.includes('trying again')`);
    await here.start('--config', join(here.directory, 'project', 'stemma.yaml'));
    await tab.until(owns);
    await typeLine(tab, 'again');
    await tab.until(`${screen}.includes('typed again')`);
    // All of it is there, once, in order.
    for (let page = 0; page < 40 && !(await tab.read<string>(screen))?.includes('ready'); page++)
      await tab.press('PageUp', 'Shift');
    await tab.until(`/ready[^]*line 1\\nline 2\\n/.test(${screen})`);
    expect(await tab.read('isSame')).toBe(true);
  });

  visit('what a program prints acts on nothing but its screen', async (here) => {
    const { tab } = here;
    await openTerminal(here, await withScreen(here), tab);
    await tab.until(owns);
    await tab.read(`(window.left = [], window.open = (url) => left.push(String(url)),
      window.confirm = (text) => left.push(text), navigator.clipboard && (navigator.clipboard.writeText = (text) => left.push(text)))`);
    const title = await tab.read('document.title');
    const hostile = [
      '\x1b]0;owned\x07',
      '\x1b]52;c;b3duZWQ=\x07',
      '\x1b]8;;javascript:window.owned=1\x07link\x1b]8;;\x07 ',
      '\x1b]8;;https://evil.example/?x\x1b\\site\x1b]8;;\x1b\\ ',
      '<img src=x onerror="window.owned=1"><script>window.owned=1</script>',
      '\u202egnp\u2066 ',
      '\x1bPq#0;2;0;0;0~~\x1b\\',
      '\x1b[?1049h\x1b[?1049l',
      'survived',
    ].join('');
    await typeLine(tab, `say ${Buffer.from(hostile).toString('hex')}`);
    await tab.until(`${screen}.includes('survived')`);
    await tab.click('.xterm-screen');
    expect(await tab.read(screen)).toContain('<img src=x onerror="window.owned=1">');
    expect(await tab.read('document.title')).toBe(title);
    expect(await tab.read('[window.owned ?? null, left, document.images.length, refused]')).toEqual([
      null,
      [],
      0,
      [],
    ]);
    // A line of a megabyte, and the page still answers.
    await typeLine(tab, 'lines 20000');
    await tab.until(`${screen}.includes('line 20000')`);
    await typeLine(tab, 'alive');
    await tab.until(`${screen}.includes('typed alive')`);
  });
});
