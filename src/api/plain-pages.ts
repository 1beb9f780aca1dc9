import { createHash } from 'node:crypto';
import { errorAdvice } from '../base/error-advice.ts';
import { describeError, errorCodes } from '../base/errors.ts';
import type { OpenApiDocument, Operation } from './openapi.ts';
import { plainPolicy } from './security-headers.ts';

// The colours of the page (`web/src/ui/tokens.css`), whose files are served to nobody who is not signed in.
const style = `:root{color-scheme:light dark;--text:light-dark(#1b1f24,#e7eaed);--line:light-dark(#dcdfe3,#333a41)}
body{margin:0;background:light-dark(#fafaf8,#121518);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:60rem;margin:12vh auto 2rem;padding:1.5rem;overflow-wrap:anywhere}
h1{margin:0 0 .75rem;font-size:1.4rem;letter-spacing:-.01em}
a{color:light-dark(#0b57d0,#8ab4f8)}
code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.9em;padding:.1em .35em;border:1px solid var(--line);border-radius:4px}
table{width:100%;border-collapse:collapse}th,td{padding:.4rem .6rem;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}
td code{border:0;padding:0}tr:target{background:light-dark(#fff3d6,#3a2e12)}small{color:light-dark(#57606a,#a3adb8)}`;
const policy = plainPolicy(`sha256-${createHash('sha256').update(style).digest('base64')}`);

/** The documentation: every path of the OpenAPI document, without a script. */
export function docsResponse(document: OpenApiDocument): Response {
  const rows = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => docsRow(method, path, operation)),
  );
  const body = `<h1>Stemma ${escapeHtml(document.info.version)}</h1>
<p>${escapeHtml(document.info.description)} The whole description, with every field: <a href="openapi.json">openapi.json</a>. What the codes mean: <a href="docs/errors">docs/errors</a>.</p>
<table><thead><tr><th>Method</th><th>Path</th><th>What it does</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
  return htmlResponse(200, 'Stemma: the API', body);
}

/** Every code of an error, each under an anchor of its name. */
export function errorDocsResponse(): Response {
  const rows = errorCodes.map((code) => {
    const { status, exit, title } = describeError(code);
    const told = escapeHtml(errorAdvice[code]).replace(/`([^`]+)`/g, '<code>$1</code>');
    return `<tr id="${code}"><td><code>${code}</code></td><td>${escapeHtml(title)}. <small>${told}</small></td><td>${status}</td><td>${exit}</td></tr>`;
  });
  const body = `<h1>Codes of errors</h1>
<p>The message of an error says to which id it happened, and what to do. Its code is for programs, and never changes.</p>
<table><thead><tr><th>Code</th><th>What it means, and what to do</th><th>HTTP</th><th>Exit</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
  return htmlResponse(200, 'Stemma: codes of errors', body);
}

/**
 * What a browser sees that has just been signed in: it goes on to the page by itself. A redirect would not do: the
 * cookie is not sent with a redirect that began at a link of another site, such as a terminal in a browser.
 */
export function signedInResponse(cookie: string): Response {
  const head = '<meta http-equiv="refresh" content="0; url=./">';
  const response = htmlResponse(
    200,
    'Stemma: signed in',
    '<h1>Signed in</h1><p><a href="./">Go on to the page</a></p>',
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
    '<h1>Sign in</h1><p>Run <code>stemma open</code> on the machine of the server. It opens this page by a link that signs you in once.</p><p>You are signed in, and came by a link of another site? <a href="">Open the page</a>.</p>',
  );
}

/** What a browser sees when the link was used before, or is too old. */
export function usedLinkResponse(): Response {
  return htmlResponse(
    401,
    'Stemma: the link is used up',
    '<h1>This link does not work any more</h1><p>A link signs in once, within minutes. Run <code>stemma open</code> for another. If you are signed in already: <a href="./">open the page</a>.</p>',
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
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${head}<title>${escapeHtml(title)}</title><link rel="icon" href="data:,"><style>${style}</style></head><body><main>${body}</main></body></html>`;
  return new Response(html, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
