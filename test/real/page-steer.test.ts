import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../e2e/wait-for.ts';
import { Chromium, findChromium } from '../page/chromium.ts';
import { isLive, sees, textOf } from '../page/visit.ts';
import { AgentServer } from './agent-server.ts';
import { codexKit } from './codex-kit.ts';
import { findProgram } from './kit.ts';

const program = findProgram(codexKit.name);
const browser = findChromium();
const main = textOf('main');

// The bundled demo agent speaks ACP, which proves nothing of a second text: what is steered needs a program that does.
describe.skipIf(!program || !browser)('a person steers the real codex on the page', () => {
  let server: AgentServer;
  let chromium: Chromium;
  beforeAll(async () => {
    server = await AgentServer.start(codexKit, program ?? '', []);
    chromium = await Chromium.open(browser ?? '');
  });
  afterAll(async () => {
    await chromium?.close();
    await server?.stop();
  });

  test('the text is in the turn that runs, with proof, and stands where it was taken up', async () => {
    const message =
      'Look. [[shell for i in $(seq 600); do test -e go && break; sleep 0.1; done]] [[say looked]]';
    const body = { agent: codexKit.name, cwd: server.cwd, message };
    const { sessionId } = await server.client.call('query', { body });
    const tab = await chromium.tab();
    const { url } = await server.client.call('createSignInLink');
    await tab.goTo(url);
    await tab.until(`location.pathname === '/' && ${isLive}`);
    await tab.goTo(new URL(`/sessions/${sessionId}`, url).href);
    await waitFor('the turn has begun', () => server.model.log.length > 0, { withinMs: 30_000 });
    await tab.clickText('into the running turn');
    await tab.click('textarea');
    await tab.type('And the tests too. [[say both looked at]]');
    await tab.clickText('Steer');
    await tab.until(sees('On its way into the running turn.'));
    writeFileSync(join(server.cwd, 'go'), '');
    await tab.until(`${main}.includes('put into the running turn, with proof; handled')`, 60_000);
    await tab.until(`${main}.includes('both looked at')`);
    const { items } = await server.client.call('getMessages', { id: sessionId });
    expect(items.map(({ delivery, state }) => [delivery, state])).toEqual([
      ['steered', 'succeeded'],
      ['began', 'succeeded'],
    ]);
  }, 120_000);
});
