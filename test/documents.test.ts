import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createProgram } from '../src/cli/program.ts';
import type { CliDeps } from '../src/cli/ports.ts';
import { errorAdvice } from '../src/base/error-advice.ts';
import { describeError, errorCodes } from '../src/base/errors.ts';
import { inZone } from '../src/base/zoned-time.ts';
import { configFile } from '../src/contract/config-file.ts';
import { runFile } from '../src/contract/run-file.ts';
import { instantsBetween } from '../src/schedules/rule/instants.ts';
import { parseRule } from '../src/schedules/rule/rule.ts';
import { checkWorkflow } from '../src/workflows/check.ts';
import { readWorkflowFile } from '../src/workflows/read-file.ts';
import { matcher } from './architecture/source-files.ts';

const root = join(import.meta.dirname, '..');
const folders = ['src', 'test', 'docs', 'examples', 'bench', 'scripts', 'web', '.ci'];
const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
);
const documents = [...readdirSync(root), ...files]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** Every part of every document that fits, with where it stands. */
function every(pattern: RegExp): { path: string; found: string }[] {
  return documents.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map((match) => ({ path, found: match[1] ?? '' })),
  );
}

/** What is wrong with a command line of a document, in words. */
function mistakeIn(line: string, program: Command): string | undefined {
  const words = line.split('#', 1)[0]?.split(/\s+/) ?? [];
  let command = program;
  const flags = new Set(program.options.map(({ long }) => long));
  for (const word of words.filter((each) => each !== '')) {
    if (word === '--' || word === ';') break;
    if (word.startsWith('--')) {
      if (!flags.has(word)) return `${command.name()} has no ${word}`;
    } else if (command.commands.length > 0) {
      const next = command.commands.find((each) => each.name() === word);
      if (!next) return `${command.name()} has no ${word}`;
      command = next;
      for (const { long } of next.options) flags.add(long);
    }
  }
  return undefined;
}

describe('the documents', () => {
  it('are found', () => {
    expect(documents.length).toBeGreaterThan(30);
  });

  it('have every code of an error, as the program has it', () => {
    const errors = documents.find(({ path }) => path === 'docs/errors.md')?.text ?? '';
    const rows = errorCodes.map((code) => {
      const { status, exit, title } = describeError(code);
      return `| \`${code}\` | ${title}. ${errorAdvice[code]} | ${status} | ${exit} |`;
    });
    expect(errors.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
  });

  it('have each word of the glossary once', () => {
    const glossary = documents.find(({ path }) => path === 'docs/glossary.md')?.text ?? '';
    const words = [...glossary.matchAll(/^\| ([^|]+) \|/gm)].map((match) => match[1] ?? '');
    expect(words.length).toBeGreaterThan(40);
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  });

  it('link to files that exist', () => {
    const links = every(/\]\((?!https?:)([^)#]+)/g);
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(({ path, found }) => !existsSync(join(root, dirname(path), found)))).toEqual([]);
  });

  it('name paths that exist', () => {
    const paths = every(/`((?:src|test|docs|examples|bench|scripts|web|\.ci)\/[\w./*-]+)/g);
    expect(paths.length).toBeGreaterThan(20);
    const isThere = (found: string): boolean => files.some(matcher([found.replace(/\/$/, '')]));
    expect(paths.filter(({ found }) => !isThere(found))).toEqual([]);
  });

  it('name commands, flags and scripts that exist', () => {
    // Only its shape is looked at; no verb is run.
    const program = createProgram({ version: '0' } as CliDeps, () => undefined);
    const commands = every(
      /(?:^ {4}|^ {4}npx --no-install |`|`npx --no-install |; )stemma ([a-z][^`\n;]*)/gm,
    );
    expect(commands.length).toBeGreaterThan(25);
    const mistakes = commands.map(({ path, found }) => [path, mistakeIn(found, program)]);
    expect(mistakes.filter(([, mistake]) => mistake !== undefined)).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const missing = every(/npm run ([\w:]+)/g).filter(({ found }) => !(found in scripts));
    expect(missing).toEqual([]);
  });

  it('notice a command that does not exist', () => {
    const program = createProgram({ version: '0' } as CliDeps, () => undefined);
    expect(mistakeIn('agent check codex --turn', program)).toBeUndefined();
    expect(mistakeIn('agent test codex', program)).toBe('agent has no test');
    expect(mistakeIn('up --workers 3', program)).toBe('up has no --workers');
  });

  it('show run files, workflows and configurations that can be used', () => {
    const files = every(/```yaml\n([^`]+)```/g);
    expect(files.length).toBeGreaterThan(5);
    for (const { path, found } of files) {
      const said = parse(found) as object;
      if ('steps' in said) {
        expect(checkWorkflow(readWorkflowFile(said), { name: 'shown' }), path).toEqual([]);
        continue;
      }
      const schema = 'messages' in said ? runFile : configFile;
      expect(schema.safeParse(said).error, path).toBeUndefined();
    }
  });

  it('say of changes of the clock what happens then', () => {
    const rows = every(/^\| (`[^`]+` \| \w+\/\w+ \| \d{4}-\d\d-\d\d \| [^|]+) \|$/gm);
    expect(rows.length).toBeGreaterThan(5);
    for (const { found } of rows) {
      const [expression = '', timezone = '', day = '', times] = found.split(' | ');
      const read = parseRule({ cron: expression.replaceAll('`', ''), timezone });
      if (!('rule' in read)) throw new Error(`${expression} is no rule`);
      const noon = Date.parse(`${day}T12:00:00Z`);
      const instants = instantsBetween(read.rule, noon - 36 * 3_600_000, noon + 36 * 3_600_000, 1_000);
      const local = instants.map((ms) => inZone(ms, timezone)).filter((text) => text.startsWith(day));
      expect(local.map((text) => text.slice(11, 16)).join(', '), found).toBe(times);
    }
  });
});
