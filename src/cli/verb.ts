import { type Command, InvalidArgumentError, Option } from 'commander';
import { StemmaError } from '../base/errors.ts';
import { parseDurationMs } from '../contract/durations.ts';
import type { CliContext } from './context.ts';

/** Options as commander parsed them; read them with the functions below. */
export type Options = Readonly<Record<string, unknown>>;

/** Does what a verb says. `args` are its positional arguments; resolves with the exit code. */
export type VerbHandler = (
  context: CliContext,
  args: readonly unknown[],
  options: Options,
) => Promise<number>;

/** Where a verb puts itself. */
export interface Registrar {
  readonly program: Command;
  /** Wraps a handler into what commander calls. */
  readonly verb: (handler: VerbHandler) => (...parameters: unknown[]) => Promise<void>;
}

/** A text option or argument, or undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A required text argument: commander has checked that it is there. `what`: its name in the usage. */
export function requiredText(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new StemmaError('INVALID_INPUT', `The argument <${what}> is empty.`);
}

/** A number option, or undefined. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Reads a duration for commander: milliseconds. A wrong one is a usage error. */
export function durationArgument(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) throw new InvalidArgumentError('Write a duration, such as 30s, 90m or 4h.');
  return ms;
}

/** Reads a whole number between two bounds for commander. */
export function wholeNumber(smallest: number, largest: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= smallest && value <= largest) return value;
    throw new InvalidArgumentError(`Write a whole number from ${smallest} to ${largest}.`);
  };
}

/** The entries of an object that are not undefined: bodies must not say `undefined`. */
export function defined<T extends Record<string, unknown>>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** `--limit` of a verb that lists. */
export function limitOption(largest = 500): Option {
  return new Option('--limit <n>', 'how many at most').argParser(wholeNumber(1, largest));
}

/** `--cursor` of a verb that lists. */
export function cursorOption(): Option {
  return new Option('--cursor <cursor>', 'go on behind an earlier list');
}
