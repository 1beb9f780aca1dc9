import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenApiDocument, Operation } from './openapi.ts';
import { pagePolicy } from './security-headers.ts';

/** A file of the page, in memory. */
export interface PageFile {
  readonly contentType: string;
  readonly content: string;
}

/** The files of the page by the path under which they are served. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/style.css', 'style.css', 'text/css; charset=utf-8'],
] as const;

/** Where the page's files are served. */
export const pagePaths: readonly string[] = files.map(([path]) => path);

/** Reads the page into memory, from the folder `web/public`. Throws when a file is missing: the package is broken. */
export async function loadPage(folder: string): Promise<PageFiles> {
  const entries = files.map(async ([path, name, contentType]) => {
    const content = await readFile(join(folder, name), 'utf8');
    return [path, { contentType, content }] as const;
  });
  return new Map(await Promise.all(entries));
}

/** The response for a file of the page. */
export function pageResponse({ content, contentType }: PageFile): Response {
  return new Response(content, {
    headers: {
      'content-type': contentType,
      'content-security-policy': pagePolicy,
      'cache-control': 'no-cache',
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

/** What a browser sees that is not signed in. */
export function signInNeededResponse(): Response {
  return htmlResponse(
    401,
    'Stemma: sign in',
    '<h1>Sign in</h1><p>Run <code>stemma open</code> on the machine of the server. It opens this page by a link that signs you in once.</p>',
  );
}

/** What a browser sees when the link was used before, or is too old. */
export function usedLinkResponse(): Response {
  return htmlResponse(
    401,
    'Stemma: the link is used up',
    '<h1>This link does not work any more</h1><p>A link signs in once, within minutes. Run <code>stemma open</code> for another.</p>',
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

function htmlResponse(status: number, title: string, body: string): Response {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"></head><body><main>${body}</main></body></html>`;
  return new Response(html, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy },
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
