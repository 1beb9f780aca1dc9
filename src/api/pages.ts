import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
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
  return new Map([...viewPaths.map((path) => [path, indexFor(path, index)] as const), ...entries]);
}

/**
 * The page for one address. Its parts are found from where it begins, whatever path a proxy has put before it: a base that is
 * relative needs to know nothing of that.
 */
function indexFor(path: string, index: PageFile): PageFile {
  const depth = path.split('/').length - 2;
  const base = depth === 0 ? './' : '../'.repeat(depth);
  return { ...index, content: index.content.replace('<head>', `<head>\n    <base href="${base}">`) };
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
