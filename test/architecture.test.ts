import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { errorAdvice } from '../src/base/error-advice.ts';
import { errorCodes } from '../src/base/errors.ts';
import { exceptions, longFiles, places, wiring } from './architecture/layers.ts';
import type { SourceFile } from './architecture/source-files.ts';
import { collect, cycleIn, matcher } from './architecture/source-files.ts';

const root = join(import.meta.dirname, '..');
const build = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')) as { exclude: string[] };
/** What the build leaves out belongs to the tests, wherever it lies. */
const isUnbuilt = matcher(build.exclude);
const product = collect(join(root, 'src'), (path) => !isUnbuilt(`src/${path}`));
const everything = [
  ...collect(join(root, 'src')),
  ...collect(join(root, 'test')).map((file) => ({ ...file, path: `../test/${file.path}` })),
];

/** The longest path of the table that a file lies under. */
function placeOf(path: string): string | undefined {
  const fits = places
    .map((place) => place.path)
    .filter((name) => path === name || path.startsWith(`${name}/`));
  if (path.startsWith(`${wiring}/`)) return wiring;
  return fits.sort((a, b) => b.length - a.length)[0];
}

/** Imports that a file may not have, in words. */
function illegalImports(file: SourceFile): string[] {
  const from = placeOf(file.path);
  if (from === wiring) return [];
  const may = places.find((place) => place.path === from)?.may;
  if (from === undefined || !may) return [`${file.path} lies in no place of the table`];
  return file.imports.flatMap((path) => {
    const to = placeOf(path);
    return to === from || (to !== undefined && may.includes(to)) ? [] : [`${file.path} imports ${path}`];
  });
}

describe('what is looked at', () => {
  it('is the product: many files in every folder', () => {
    expect(product.length).toBeGreaterThan(150);
    const seen = new Set(product.map((file) => file.path.split('/')[0]));
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    );
    expect([...seen].sort()).toEqual(folders.map((each) => each.name).sort());
    expect(product.some((file) => file.path.endsWith('.test.ts'))).toBe(false);
  });

  const empty = mkdtempSync(join(tmpdir(), 'stemma-empty-'));
  afterAll(() => rmSync(empty, { recursive: true }));

  it('is never nothing: without files every check fails', () => {
    expect(() => collect(empty)).toThrow('nothing was checked');
    expect(() => collect(join(root, 'src'), () => false)).toThrow('nothing was checked');
  });

  it('has its imports and its comments read', () => {
    const file = product.find(({ path }) => path === 'ledger/settle.ts');
    expect(file?.imports).toContain('ledger/decision.ts');
    expect(file?.text).toContain('/**');
    expect(file?.code).not.toContain('/**');
  });
});

describe('layers', () => {
  it('imports go down only, and adapters are named by the wiring alone', () => {
    expect(product.flatMap(illegalImports)).toEqual([]);
  });

  it('notices an import that goes up', () => {
    const file = { ...(product[0] as SourceFile), path: 'ledger/x.ts', imports: ['turns/y.ts', 'base/z.ts'] };
    expect(illegalImports(file)).toEqual(['ledger/x.ts imports turns/y.ts']);
  });

  it('the table names lower places only, but for the ports of edges', () => {
    for (const [at, place] of places.entries()) {
      for (const name of place.may) {
        const to = places.findIndex((other) => other.path === name);
        const isEdgePort = name === 'api/ports.ts' || name === 'mcp/ports.ts';
        expect(to, `${place.path} may import ${name}`).toBeGreaterThanOrEqual(0);
        expect(to < at || isEdgePort, `${place.path} may import ${name}, which is above it`).toBe(true);
      }
    }
  });

  it('no file is imported in a circle', () => {
    expect(cycleIn(product)).toBeUndefined();
  });

  it('notices a circle', () => {
    const file = (path: string, imports: string[]): SourceFile => ({
      ...(product[0] as SourceFile),
      path,
      imports,
    });
    const files = [file('a.ts', ['b.ts']), file('b.ts', ['c.ts']), file('c.ts', ['b.ts'])];
    expect(cycleIn(files)).toEqual(['b.ts', 'c.ts', 'b.ts']);
  });
});

describe('the page', () => {
  const page = collect(join(root, 'web/src'));

  it('sees nothing of the server but the shapes of the wire', () => {
    expect(page.length).toBeGreaterThan(20);
    const allowed = /from '(?:\.\.\/)+src\/(?:contract\/[\w-]+|base\/ids|words\/[\w-]+)\.ts'/;
    const found = page.flatMap(({ path, text }) =>
      [...text.matchAll(/from '(?:\.\.\/)+src\/[^']*'/g)].flatMap(([from]) =>
        allowed.test(from) ? [] : [`${path}: ${from}`],
      ),
    );
    expect(found).toEqual([]);
  });

  it('takes types alone of the contract: its schemas weigh more than the page', () => {
    const found = page.flatMap(({ path, text }) =>
      [...text.matchAll(/import (?!type )[^;]*from '(?:\.\.\/)+src\/contract\/[^']*'/g)].map(
        ([from]) => `${path}: ${from}`,
      ),
    );
    expect(found).toEqual([]);
  });

  it('makes no markup of texts', () => {
    const writers =
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/;
    expect(page.filter(({ code }) => writers.test(code)).map(({ path }) => path)).toEqual([]);
  });
});

/** What makes a computation depend on when and where it runs. */
const impure = ['Date.now', 'new Date(', 'setTimeout', 'setInterval', 'Math.random', 'randomUUID'];

describe('time, randomness and promises', () => {
  it('come from base, and elsewhere only where it is said why', () => {
    const found = product
      .filter((file) => !file.path.startsWith('base/'))
      .flatMap((file) =>
        impure.filter((what) => file.code.includes(what)).map((what) => `${file.path}: ${what}`),
      );
    const allowed = exceptions.map(({ path, what }) => `${path}: ${what}`);
    // An exception that nobody uses any more goes from the list.
    expect(found.sort()).toEqual(allowed.sort());
  });

  it('do not exist in the ledger, which has no I/O either', () => {
    const ledger = product.filter((file) => file.path.startsWith('ledger/'));
    expect(ledger.length).toBeGreaterThan(20);
    expect(ledger.flatMap((file) => file.packages)).toEqual([]);
    // Ports are types: what their adapters do takes time.
    const rules = ledger.filter(({ path }) => path !== 'ledger/store.ts' && path !== 'ledger/wakeups.ts');
    const forbidden = [...impure, 'async ', 'await ', 'Promise', 'process.', 'console.', 'globalThis'];
    const found = rules.flatMap((file) =>
      forbidden.filter((what) => file.code.includes(what)).map((what) => `${file.path}: ${what}`),
    );
    expect(found).toEqual([]);
  });

  it('reach the contract as little: it is shapes only', () => {
    const packages = product
      .filter((file) => file.path.startsWith('contract/'))
      .flatMap((file) => file.packages);
    expect([...new Set(packages)].filter((name) => name !== 'zod' && name !== '@hono/zod-openapi')).toEqual(
      [],
    );
  });
});

describe('files', () => {
  it('are never longer than 500 lines, and longer than 300 only where it is said why', () => {
    expect(everything.filter((file) => file.lineCount > 500).map((file) => file.path)).toEqual([]);
    const long = product.filter((file) => file.lineCount > 300).map((file) => file.path);
    expect(long.filter((path) => !longFiles.some((each) => each.path === path))).toEqual([]);
  });

  it('are named in kebab-case, and not for what says nothing', () => {
    const isWellNamed = (file: SourceFile): boolean => {
      const name = file.path.split('/').at(-1) ?? '';
      return (
        /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z-]+)*\.ts$/.test(name) &&
        !/(manager|helper|utils?|common|misc)/.test(name)
      );
    };
    expect(everything.filter((file) => !isWellNamed(file)).map((file) => file.path)).toEqual([]);
  });

  it('are no barrels and have no default exports', () => {
    const isBarrel = (file: SourceFile): boolean =>
      file.path.endsWith('/index.ts') || /export\s+(type\s+)?(\*|\{[^}]*\})\s+from/.test(file.code);
    expect(product.filter(isBarrel).map((file) => file.path)).toEqual([]);
    expect(product.filter((file) => /export\s+default/.test(file.code)).map((file) => file.path)).toEqual([]);
  });
});

describe('documents', () => {
  it('every folder that is a layer or an adapter says what it is, in one screen', () => {
    const src = join(root, 'src');
    const foldersOf = (path: string): string[] =>
      readdirSync(join(src, path), { withFileTypes: true })
        .filter((each) => each.isDirectory())
        .map((each) => join(path, each.name));
    const folders = [...foldersOf('.'), ...foldersOf('drivers')];
    expect(folders.filter((path) => !existsSync(join(src, path, 'README.md')))).toEqual([]);
    const lines = (path: string): number =>
      readFileSync(join(src, path, 'README.md'), 'utf8').split('\n').length;
    expect(folders.filter((path) => lines(path) > 50)).toEqual([]);
  });

  it('every error code says when it happens and what the reader can do', () => {
    const silent = errorCodes.filter((code) => !/^.{20,}[.]$/.test(errorAdvice[code]));
    expect(errorCodes.length).toBeGreaterThan(30);
    expect(silent).toEqual([]);
  });
});
