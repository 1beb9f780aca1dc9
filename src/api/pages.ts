import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { OpenApiDocument, Operation } from './openapi.ts';
import { pagePolicy } from './security-headers.ts';

/** A file of the page, in memory. */
export interface PageFile {
  readonly contentType: string;
  readonly content: string;
  /** Whether another content would have another name. */
  readonly isImmutable: boolean;
}

/** The files of the page by the pattern of the paths under which they are served. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** What a page is made of, by the ending of the name. Other files of the folder are not served. */
const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The addresses of the views: the page itself finds out what stands there. The same as in `web/src/app/router.tsx`. */
const viewPaths = [
  '/',
  '/roots/:id',
  '/runs',
  '/runs/:id',
  '/schedules',
  '/schedules/:project/:name',
  '/workflows',
  '/workflows/:project/:name',
  '/sessions',
  '/sessions/:id',
  '/agents',
  '/settings',
];

/**
 * Reads the page into memory, from the folder it was built to, so that all that is served is of one version. Throws when
 * `index.html` is missing: the package is broken.
 */
export async function loadPage(folder: string): Promise<PageFiles> {
  const index = await readPageFile(folder, 'index.html');
  const names = await readdir(folder, { recursive: true });
  const parts = names.filter((name) => name !== 'index.html' && contentTypes[extname(name)] !== undefined);
  const entries = await Promise.all(
    parts.map(async (name) => [`/${name.replaceAll('\\', '/')}`, await readPageFile(folder, name)] as const),
  );
  return new Map([...viewPaths.map((path) => [path, index] as const), ...entries]);
}

async function readPageFile(folder: string, name: string): Promise<PageFile> {
  const content = await readFile(join(folder, name), 'utf8');
  return {
    contentType: contentTypes[extname(name)] ?? '',
    content,
    // The build names these after what is in them.
    isImmutable: name.startsWith('assets'),
  };
}

/** The response for a file of the page. */
export function pageResponse({ content, contentType, isImmutable }: PageFile): Response {
  return new Response(content, {
    headers: {
      'content-type': contentType,
      'content-security-policy': pagePolicy,
      'cache-control': isImmutable ? 'private, max-age=31536000, immutable' : 'no-cache',
    },
  });
}

/** The documentation: every path of the OpenAPI document, without a script. */
export function docsResponse(document: OpenApiDocument): Response {
  const rows = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => docsRow(method, path, operation)),
  );
  const body = `<h1>Stemma ${escapeHtml(document.info.version)}</h1>
<p>${escapeHtml(document.info.description)} The whole description, with every field: <a href="/openapi.json">openapi.json</a>.</p>
<table><thead><tr><th>Method</th><th>Path</th><th>What it does</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
  return htmlResponse(200, 'Stemma: the API', body);
}

/**
 * What a browser sees that has just been signed in: it goes on to the page by itself. A redirect would not do: the
 * cookie is not sent with a redirect that began at a link of another site, such as a terminal in a browser.
 */
export function signedInResponse(cookie: string): Response {
  const head = '<meta http-equiv="refresh" content="0; url=/">';
  const response = htmlResponse(
    200,
    'Stemma: signed in',
    '<h1>Signed in</h1><p><a href="/">Go on to the page</a></p>',
    head,
  );
  response.headers.set('set-cookie', cookie);
  return response;
}

/** What a browser sees that is not signed in. */
export function signInNeededResponse(): Response {
  return htmlResponse(
    401,
    'Stemma: sign in',
    '<h1>Sign in</h1><p>Run <code>stemma open</code> on the machine of the server. It opens this page by a link that signs you in once.</p><p>You are signed in, and came by a link of another site? <a href="/">Open the page</a>.</p>',
  );
}

/** What a browser sees when the link was used before, or is too old. */
export function usedLinkResponse(): Response {
  return htmlResponse(
    401,
    'Stemma: the link is used up',
    '<h1>This link does not work any more</h1><p>A link signs in once, within minutes. Run <code>stemma open</code> for another. If you are signed in already: <a href="/">open the page</a>.</p>',
  );
}

/** Whether the client is a browser that shows a page. */
export function wantsHtml(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/html') ?? false;
}

function docsRow(method: string, path: string, operation: Operation): string {
  const description = operation['description'];
  const more = typeof description === 'string' ? ` <small>${escapeHtml(description)}</small>` : '';
  return `<tr><td>${method.toUpperCase()}</td><td><code>${escapeHtml(path)}</code></td><td>${escapeHtml(operation.summary)}${more}</td></tr>`;
}

function htmlResponse(status: number, title: string, body: string, head = ''): Response {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${head}<title>${escapeHtml(title)}</title><link rel="icon" href="data:,"></head><body><main>${body}</main></body></html>`;
  return new Response(html, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy },
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
