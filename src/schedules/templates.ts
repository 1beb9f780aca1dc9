import { findNearest } from '../base/nearest.ts';
import { dayInZone, inZone } from '../base/zoned-time.ts';

/** What of a text stays as it is. */
export interface PlainPart {
  readonly is: 'text';
  readonly text: string;
}

/** A message as it is written, taken apart. */
export type TemplatePart = PlainPart | { readonly is: PlainName } | EnvPart | FilePart;

/** A variable of the environment. */
export interface EnvPart {
  readonly is: 'env';
  readonly name: string;
}

/** A file below the working directory. */
export interface FilePart {
  readonly is: 'file';
  readonly path: string;
}

/** One thing that is wrong in a template. Line and column count from 1, within the text. */
export interface TemplateIssue {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The template that was probably meant, without its braces. */
  readonly nearest?: string;
}

/** A template taken apart, or all that is wrong with it. */
export type ParsedTemplate<Part = TemplatePart> =
  | { readonly ok: true; readonly parts: readonly Part[] }
  | { readonly ok: false; readonly issues: readonly TemplateIssue[] };

/** What the templates of one message stand for. */
export interface TemplateValues {
  /** The instant that the run is for; UTC milliseconds. */
  readonly scheduledFor: number;
  /** An IANA zone. */
  readonly zone: string;
  /** The result of the message before; of the first one, the last result of the run before; null: there is none. */
  readonly previousResult: string | null;
  /** A variable that this message may have, if there is one. */
  readonly env: (name: string) => string | undefined;
  /** A file below the working directory, whose path is relative. Never rejects. */
  readonly readFile: (path: string) => Promise<FileRead>;
}

/** A file's text, or why it cannot be had, in words that follow "cannot be read: ". */
export type FileRead =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

/** The text to send, or why there is none, in a sentence. */
export type Rendered =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/** How long a result or a file may be that is put into a message, in UTF-16 units. */
const longestValue = 100_000;
/** How many issues of one text are told. A text that is no template at all may be full of braces. */
const mostIssues = 20;
/** How long a message may become. The same bound as for one that is sent by hand. */
const longestText = 1_000_000;

const plainNames = ['scheduledFor', 'date', 'previous.result'] as const;
type PlainName = (typeof plainNames)[number];
const allNames = [...plainNames, 'env.NAME', 'file:PATH'];
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Takes a message apart: `{{scheduledFor}}`, `{{date}}`, `{{previous.result}}`, `{{env.NAME}}`, `{{file:PATH}}`; `\{{` stands
 * for two braces. Names that are not known are issues, because a message with a gap in it costs a night; at most `mostIssues` of them are told.
 */
export function parseTemplate(text: string): ParsedTemplate {
  return takeApart<TemplatePart>(text, readName);
}

/** Takes a text apart whose templates `read` knows; what it does not know it answers with an issue. */
export function takeApart<Part extends object>(
  text: string,
  read: (name: string) => Part | NameIssue,
): ParsedTemplate<Part | PlainPart> {
  const parts: (Part | PlainPart)[] = [];
  const issues: TemplateIssue[] = [];
  let literal = '';
  let at = 0;
  const nextOpen = (): number => (issues.length < mostIssues ? text.indexOf('{{', at) : -1);
  for (let open = nextOpen(); open >= 0; open = nextOpen()) {
    literal += text.slice(at, open);
    if (open > at && text[open - 1] === '\\') {
      literal = `${literal.slice(0, -1)}{{`;
      at = open + 2;
      continue;
    }
    const close = text.indexOf('}}', open + 2);
    const found = close < 0 ? unclosed : read(text.slice(open + 2, close).trim());
    if ('message' in found) issues.push({ ...placeOf(text, open), ...found });
    else parts.push(...textPart(literal), found);
    literal = '';
    at = close < 0 ? text.length : close + 2;
  }
  parts.push(...textPart(literal + text.slice(at)));
  return issues.length > 0 ? { ok: false, issues } : { ok: true, parts };
}

/**
 * The text to send. What the values bring in is never read as a template: a result with `{{date}}` in it stays as it is.
 * Never rejects.
 */
export async function renderTemplate(text: string, values: TemplateValues): Promise<Rendered> {
  return fillParts<TemplatePart>(parseTemplate(text), (part) => valueOf(part, values));
}

/** Puts the parts of a text together, each with what it stands for; the first that stands for nothing ends it. */
export async function fillParts<Part>(
  parsed: ParsedTemplate<Part>,
  valueOfPart: (part: Part) => Promise<Rendered>,
): Promise<Rendered> {
  if (!parsed.ok) return no(parsed.issues.map(({ message }) => message).join(' '));
  let whole = '';
  for (const part of parsed.parts) {
    const value = await valueOfPart(part);
    if (!value.ok) return value;
    whole += value.text;
    if (whole.length > longestText)
      return no(`With its templates filled in the message is longer than ${longestText} characters.`);
  }
  return { ok: true, text: whole };
}

/** The names of the environment's variables that a text asks for; none when it is no valid template. */
export function variablesIn(text: string): string[] {
  const parsed = parseTemplate(text);
  return parsed.ok ? parsed.parts.flatMap((part) => (part.is === 'env' ? [part.name] : [])) : [];
}

/** Why something in braces is no template. */
export type NameIssue = Pick<TemplateIssue, 'message' | 'nearest'>;

const unclosed: NameIssue = { message: '"{{" has no "}}"; write "\\{{" for two braces.' };

function readName(name: string): TemplatePart | NameIssue {
  const plain = plainNames.find((known) => known === name);
  if (plain) return { is: plain };
  if (name.startsWith('env.')) return readVariable(name.slice('env.'.length));
  if (name.startsWith('file:')) return readPath(name.slice('file:'.length).trim());
  return unknownName(name, allNames);
}

/** There is no such template; `known` says what there is. */
export function unknownName(name: string, known: readonly string[]): NameIssue {
  const nearest = findNearest(name, known);
  const hint = nearest === undefined ? `known are ${known.join(', ')}.` : `did you mean {{${nearest}}}?`;
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  const message = `there is no template {{${shown}}}; ${hint} Write "\\{{" for two braces.`;
  return { message, ...(nearest === undefined ? {} : { nearest }) };
}

/** `{{env.NAME}}`: a variable that texts may have. */
export function readVariable(name: string): EnvPart | NameIssue {
  if (!variable.test(name)) return { message: `{{env.${name}}} names no variable; write {{env.NAME}}.` };
  // The server's own tokens and settings are for no agent.
  if (name.startsWith('STEMMA_'))
    return { message: `{{env.${name}}} is the server's own and is not given out.` };
  return { is: 'env', name };
}

/** `{{file:PATH}}`: a file below the working directory. */
export function readPath(path: string): FilePart | NameIssue {
  if (path === '') return { message: '{{file:}} names no file; write {{file:PATH}}.' };
  const isInside = !/^[/~]/.test(path) && !path.split('/').includes('..') && !path.includes('\0');
  if (isInside) return { is: 'file', path };
  return { message: `{{file:${path}}} leaves the working directory; write a path below it.` };
}

async function valueOf(part: TemplatePart, values: TemplateValues): Promise<Rendered> {
  switch (part.is) {
    case 'text':
      return { ok: true, text: part.text };
    case 'scheduledFor':
      return { ok: true, text: inZone(values.scheduledFor, values.zone) };
    case 'date':
      return { ok: true, text: dayInZone(values.scheduledFor, values.zone) };
    case 'previous.result':
      return { ok: true, text: cut(values.previousResult ?? '') };
    case 'env': {
      const value = values.env(part.name);
      return value === undefined
        ? no(
            `{{env.${part.name}}}: there is no ${part.name} for it; the agent's profile may say it in "env".`,
          )
        : { ok: true, text: cut(value) };
    }
    case 'file':
      return fileText(part.path, await values.readFile(part.path));
  }
}

/** What a file's template stands for: all of it, or why it cannot be had. */
export function fileText(path: string, read: FileRead): Rendered {
  if (!read.ok) return no(`{{file:${path}}} cannot be read: ${read.why}.`);
  if (read.text.length <= longestValue) return { ok: true, text: read.text };
  return no(`{{file:${path}}} is longer than ${longestValue} characters; name it in the text instead.`);
}

/** A value as it is put into a text. A result is what another wrote, of whatever length; its end says most. */
export function cut(text: string): string {
  if (text.length <= longestValue) return text;
  // Half of a character would not survive the way to the agent.
  const kept = text.slice(-longestValue).replace(/^[\uDC00-\uDFFF]/, '');
  return `[… ${text.length - longestValue} characters are left out …]\n${kept}`;
}

function textPart(text: string): PlainPart[] {
  return text === '' ? [] : [{ is: 'text', text }];
}

/** Where an offset is within a text; from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function no(message: string): { ok: false; message: string } {
  return { ok: false, message };
}
