import { writeSync } from 'node:fs';
import type { Logger } from 'pino';
import { describeError, toStemmaError } from '../base/errors.ts';

/** Where a crash is told besides standard error. */
export interface CrashLog {
  readonly log: Logger;
  readonly file: string;
}

/** How a process that broke tells it. */
export interface CrashTeller {
  /** From now on this process is a server: its log gets the stack, and its last sentence says what that means. */
  readonly logTo: (place: CrashLog) => void;
}

/**
 * Tells what nobody caught in one sentence, with the stack in the log, or behind the sentence where there is no log; then
 * the process ends with the exit code of a bug. It does not go on: what it holds in memory can no longer be trusted, and
 * what it has committed the next start takes up.
 */
export function tellCrashes(argv: readonly string[]): CrashTeller {
  let place: CrashLog | undefined;
  const tell = (thrown: unknown): void => {
    const steps = [
      () => place?.log.fatal({ err: thrown }, 'the server broke'),
      () => writeSync(2, lastWords(thrown, place?.file, argv.includes('--json'))),
    ];
    for (const step of steps) {
      try {
        step();
      } catch {
        // The disk is full, or nobody reads any more: the other place may still hear of it.
      }
    }
    process.exit(describeError('INTERNAL').exit);
  };
  process.on('uncaughtException', tell);
  process.on('unhandledRejection', tell);
  return {
    logTo(given) {
      place = given;
    },
  };
}

function lastWords(thrown: unknown, file: string | undefined, isJson: boolean): string {
  const { code } = toStemmaError(thrown);
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  const message =
    file === undefined
      ? `A bug of Stemma ended it: ${why}.`
      : `A bug of Stemma ended the server: ${why}. Agents live on, and the next start goes on with them; the details are in ${file}.`;
  if (isJson) return `${JSON.stringify({ error: { code, message, data: {} } })}\n`;
  const stack = file === undefined && thrown instanceof Error ? `${thrown.stack}\n` : '';
  return `stemma: ${message} [${code}]\n${stack}`;
}
