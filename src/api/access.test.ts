import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startEdge } from '../../test/edges/running-edge.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';

let edge: RunningEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

async function signIn(): Promise<{ url: string; cookie: string; header: string }> {
  const link = (await (await edge.post('/api/v1/signin-links', {})).json()) as { url: string };
  const response = await fetch(link.url, { redirect: 'manual' });
  const header = response.headers.get('set-cookie') ?? '';
  // No redirect: a cookie that is SameSite=Strict would not go with one that began at another site.
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('<meta http-equiv="refresh" content="0; url=./">');
  return { url: link.url, header, cookie: header.split(';')[0] ?? '' };
}

test('a link signs a browser in once, by a cookie that scripts and other sites cannot use', async () => {
  const { url, header, cookie } = await signIn();
  expect(header).toMatch(/; HttpOnly/);
  expect(header).toMatch(/; SameSite=Strict/);
  expect(cookie).toMatch(new RegExp(`^stemma_${edge.port}=`));
  const page = await edge.call('/', { token: null, headers: { cookie } });
  expect(page.status).toBe(200);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'.*script-src 'self'/);
  expect(policy).not.toContain('unsafe');
  const html = await page.text();
  expect(html).not.toMatch(/<script>|\son\w+=|\sstyle=/);
  const again = await fetch(url, { redirect: 'manual', headers: { accept: 'text/html' } });
  expect(again.status).toBe(401);
  expect(await again.text()).toContain('stemma open');
});

test('only looking at a link does not use it up', async () => {
  const link = (await (await edge.post('/api/v1/signin-links', {})).json()) as { url: string };
  expect((await fetch(link.url, { method: 'HEAD' })).status).toBe(405);
  expect((await fetch(link.url, { redirect: 'manual' })).status).toBe(200);
});

test('a change by cookie needs the origin that browsers send', async () => {
  const { cookie } = await signIn();
  const send = (headers: Record<string, string>) =>
    edge.call('/api/v1/query', {
      method: 'POST',
      body: '{"message":"hi"}',
      token: null,
      headers: { cookie, ...headers },
    });
  expect((await send({})).status).toBe(403);
  expect((await send({ origin: 'https://evil.example' })).status).toBe(403);
  expect((await send({ origin: edge.url })).status).toBe(202);
});

test('a browser that is not signed in reads how to', async () => {
  const response = await edge.call('/', { token: null, headers: { accept: 'text/html,*/*' } });
  expect(response.status).toBe(401);
  expect(response.headers.get('content-type')).toMatch('text/html');
  expect(await response.text()).toContain('stemma open');
});

test('behind a proxy the public address is accepted, and makes the cookie secure', async () => {
  const proxied = await startEdge({ publicUrl: 'https://stemma.example/' });
  try {
    const created = await proxied.call('/api/v1/signin-links', {
      method: 'POST',
      headers: { origin: 'https://stemma.example' },
    });
    const { url } = (await created.json()) as { url: string };
    expect(url).toMatch(/^https:\/\/stemma\.example\/signin\?code=/);
    const response = await proxied.call(`/signin${new URL(url).search}`, { token: null });
    expect(response.headers.get('set-cookie')).toMatch(/; Secure$/);
  } finally {
    await proxied.stop();
  }
});

test('below a path of a proxy it is served, whether the proxy cuts the path off or not', async () => {
  const proxied = await startEdge({ publicUrl: 'https://stemma.example/tools/stemma' });
  try {
    const created = await proxied.call('/tools/stemma/api/v1/signin-links', {
      method: 'POST',
      headers: { origin: 'https://stemma.example' },
    });
    const { url } = (await created.json()) as { url: string };
    expect(url).toMatch(/^https:\/\/stemma\.example\/tools\/stemma\/signin\?code=/);
    const response = await proxied.call(new URL(url).pathname + new URL(url).search, { token: null });
    // Without a path of its own a cookie is for what is below the address that sets it.
    expect(response.headers.get('set-cookie')).not.toContain('Path');
    expect(await response.text()).toContain('url=./');
    for (const path of ['/tools/stemma', '/tools/stemma/', '/tools/stemma/runs', '/runs'])
      expect((await proxied.call(path)).status, path).toBe(200);
    expect((await proxied.call('/tools/stemmata')).status).toBe(404);
  } finally {
    await proxied.stop();
  }
});

test('only /healthz needs no token', async () => {
  const paths = [
    '/',
    '/roots/exe_1',
    '/schedules/a/b',
    '/readyz',
    '/metrics',
    '/version',
    '/openapi.json',
    '/docs',
    '/docs/errors',
    '/api/v1/events',
  ];
  for (const path of paths) expect((await edge.call(path, { token: null })).status, path).toBe(401);
  expect(await (await edge.call('/healthz', { token: null })).json()).toEqual({ status: 'ok' });
});

test('the page is served from memory under the address of every view, with its parts', async () => {
  const index = readFileSync('dist/web/index.html', 'utf8');
  // Where the page begins is said relative to its address: a proxy may have put a path before it.
  const bases = {
    '/': './',
    '/roots/exe_1': '../',
    '/runs': './',
    '/schedules/a/b': '../../',
    '/settings': './',
  };
  for (const [path, base] of Object.entries(bases)) {
    const response = await edge.call(path);
    expect(response.headers.get('content-type'), path).toMatch('text/html');
    const text = await response.text();
    expect(text, path).toContain(`<base href="${base}">`);
    expect(text.replace(/\s+<base [^>]+>/, ''), path).toBe(index);
  }
  expect((await edge.call('/index.html')).status).toBe(404);
  expect((await edge.call('/..%2f..%2fpackage.json')).status).toBe(404);
  const names = readdirSync('dist/web/assets').filter((name) => /\.(js|css)$/.test(name));
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const response = await edge.call(`/assets/${name}`);
    expect(response.headers.get('content-type'), name).toMatch(/text\/(javascript|css)/);
    expect(response.headers.get('cache-control'), name).toMatch('immutable');
    expect(await response.text(), name).toBe(readFileSync(`dist/web/assets/${name}`, 'utf8'));
  }
});
