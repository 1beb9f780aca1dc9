import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

/** One file of the source, as far as its architecture goes. */
export interface SourceFile {
  /** Path below the root that was looked at, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text without its comments. */
  readonly code: string;
  readonly lineCount: number;
  /** Paths below the root of the files that it imports, types included. */
  readonly imports: readonly string[];
  /** Packages and `node:` modules that it imports. */
  readonly packages: readonly string[];
}

/**
 * Every TypeScript file below `root` whose path `isWanted`. Throws when there is none: a check that sees no files says
 * nothing, and must not be green.
 */
export function collect(root: string, isWanted: (path: string) => boolean = () => true): SourceFile[] {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts') && isWanted(path));
  if (paths.length === 0) throw new Error(`no TypeScript files below ${root}: nothing was checked`);
  return paths.sort().map((path) => read(root, path));
}

function read(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const code = withoutComments(text);
  const named = [...code.matchAll(/(?<!')(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
  const isOwn = (name: string): boolean => name.startsWith('.');
  return {
    path,
    text,
    code,
    lineCount: text.split('\n').length - 1,
    imports: named.filter(isOwn).map((name) =>
      normalize(join(dirname(path), name))
        .split(sep)
        .join('/'),
    ),
    packages: named.filter((name) => !isOwn(name)),
  };
}

/** Good enough for formatted code: a line comment has a space or nothing before it, and no string holds a block comment. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}

/** A test for the patterns of a tsconfig's `exclude`: folders, files, and names with `*` and `**`. */
export function matcher(patterns: readonly string[]): (path: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
    const body = escaped.replace(/\*\*\//g, '(?:.*/)?').replace(/(?<!\.)\*(?!\))/g, '[^/]*');
    return new RegExp(`^${body}(?:/.*)?$`);
  });
  return (path) => expressions.some((expression) => expression.test(path));
}

/** A cycle among the imports, as a list of paths that begins and ends with the same one; or nothing. */
export function cycleIn(files: readonly SourceFile[]): string[] | undefined {
  const importsOf = new Map(files.map((file) => [file.path, file.imports]));
  const state = new Map<string, 'entered' | 'left'>();
  const way: string[] = [];
  const enter = (path: string): string[] | undefined => {
    if (state.get(path) === 'left' || !importsOf.has(path)) return undefined;
    if (state.get(path) === 'entered') return [...way.slice(way.indexOf(path)), path];
    state.set(path, 'entered');
    way.push(path);
    for (const next of importsOf.get(path) ?? []) {
      const cycle = enter(next);
      if (cycle) return cycle;
    }
    way.pop();
    state.set(path, 'left');
    return undefined;
  };
  for (const path of importsOf.keys()) {
    const cycle = enter(path);
    if (cycle) return cycle;
  }
  return undefined;
}
