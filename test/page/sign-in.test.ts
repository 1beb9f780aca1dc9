import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { inChromium } from './in-chromium.ts';
import { fitsWidth, isLive, phone, sees, textOf } from './visit.ts';

/* Signing in, what is seen by who is not, and the page behind a proxy. */

const prefix = '/tools/stemma';

/** A reverse proxy as people have them: it serves us below a path of its own, which it cuts off. */
async function startProxy(target: () => string): Promise<{ server: Server; url: string }> {
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '/';
    if (!path.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end('not ours');
    const to = new URL(path.slice(prefix.length), target());
    const passed = request(to, { method: incoming.method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}` };
}

inChromium('signing in', (visit) => {
  visit('a link signs in once, also from a page of another site, and lands on the page', async (here) => {
    const { tab } = here;
    const { ready, client } = await here.start();
    const { url } = await client.call('createSignInLink');
    // For a browser, localhost and 127.0.0.1 are two sites.
    const other = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end(`<a href="${url}">in</a>`),
    );
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      await tab.goTo(`http://localhost:${(other.address() as AddressInfo).port}/`);
      await tab.until(`document.querySelector('a')`);
      await tab.read(`document.querySelector('a').click()`);
      await tab.until(`location.href === '${ready.url}/' && ${isLive}`);
    } finally {
      other.closeAllConnections();
      other.close();
    }
    const stranger = await here.stranger();
    await stranger.goTo(url);
    await stranger.until(sees('does not work any more'));
    await stranger.goTo(`${ready.url}/sessions`);
    await stranger.until(sees('stemma open'));
    // It is styled, though it gets no file of the page.
    const font = `getComputedStyle(document.body).fontFamily.includes('system-ui')`;
    expect(await stranger.read(font)).toBe(true);
    await stranger.resize(phone);
    await stranger.until(fitsWidth);
  });

  visit('behind a proxy, below a path of its own, everything works', async (here) => {
    const { tab } = here;
    let target = '';
    const { server, url } = await startProxy(() => target);
    try {
      const config = here.configure({}, { server: { publicUrl: url } });
      const { ready, client } = await here.start('--config', config);
      target = ready.url;
      expect(ready.signInUrl.startsWith(`${url}/signin?code=`)).toBe(true);
      await tab.goTo(ready.signInUrl);
      await tab.until(`location.href === '${url}/' && ${isLive}`);
      await here.register('seen through the proxy');
      await tab.until(sees('seen through the proxy'));
      await tab.clickText('Agents');
      await tab.until(`location.pathname === '${prefix}/agents' && ${sees('demo')}`);
      // An address that is opened by itself, two parts deep; and a change, whose origin is that of the proxy.
      const { id } = await client.call('createSession', { body: { agent: 'demo', cwd: here.directory } });
      await tab.goTo(`${url}/sessions/${id}`);
      await tab.until(sees('Nothing was said yet'));
      await tab.click('textarea[aria-label="Message"]');
      await tab.type('hello');
      await tab.press('Enter', 'Control');
      await tab.until(`${textOf('[aria-label="Transcript"]')}.includes('hello')`);
      const cookie = await tab.read<string>('document.cookie');
      expect(cookie).toBe('');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
