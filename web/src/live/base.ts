/* Where the page begins: the server says it in `<base>`, relative, so that it is right behind every proxy. */

const base = new URL('./', document.baseURI);

/** The path below which the page is, without a slash at its end: '' or `/stemma`. */
export const basePath = base.pathname.replace(/\/+$/, '');

/** The address of a path of the API: `/monitor`. */
export function apiUrl(path: string): string {
  return `${basePath}/api/v1${path}`;
}

/** The address of a WebSocket of the API. */
export function socketUrl(path: string): string {
  const url = new URL(apiUrl(path), base);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
