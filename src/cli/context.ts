import { join } from 'node:path';
import picocolors from 'picocolors';
import { StemmaError } from '../base/errors.ts';
import { dataDirectory, findServer } from '../client/discovery.ts';
import { StemmaClient } from '../client/stemma-client.ts';
import { Interrupted } from './exit.ts';
import type { Line } from '../words/line.ts';
import { type LineStyle, printLine } from './print-line.ts';
import type { CliDeps, Output } from './ports.ts';
import { asciiSigns, type Signs, unicodeSigns } from '../words/tree-words.ts';

/** What every verb takes. */
export interface GlobalOptions {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
  readonly json?: boolean;
}

/** One invocation of the command line: where it prints, whom it asks, what ends it. */
export class CliContext {
  readonly deps: CliDeps;
  readonly isJson: boolean;
  readonly signs: Signs;
  readonly #options: GlobalOptions;

  constructor(deps: CliDeps, options: GlobalOptions) {
    this.deps = deps;
    this.isJson = options.json === true;
    this.signs = ['dumb', 'linux'].includes(deps.env['TERM'] ?? '') ? asciiSigns : unicodeSigns;
    this.#options = options;
  }

  // Where npm started this, the shell itself may know no stemma.
  get #isInClone(): boolean {
    return Boolean(this.deps.env['npm_command']);
  }

  /** The data directory that is meant; absolute. */
  get dataDir(): string {
    const { env, homeDirectory, cwd } = this.deps;
    return dataDirectory({ env, homeDirectory, cwd, dataDir: this.#options.data });
  }

  /** Whether the caller named a server or a data directory, on the command line or in the environment. */
  get isServerNamed(): boolean {
    return Boolean(this.#options.url || this.deps.env['STEMMA_URL']);
  }

  /** Whether the caller named a data directory on the command line. */
  get isDataFlag(): boolean {
    return Boolean(this.#options.data);
  }

  /** A client of the server that is meant. Throws `UNREACHABLE` when none is named and none runs. */
  async connect(): Promise<StemmaClient> {
    const { url, token, data } = this.#options;
    const { env, homeDirectory, cwd, clock } = this.deps;
    return new StemmaClient(await findServer({ url, token, dataDir: data, env, homeDirectory, cwd }), clock);
  }

  /** The same error, with what somebody at a command line can do about it: the server speaks of HTTP headers. */
  withAdvice(thrown: unknown): unknown {
    if (!(thrown instanceof StemmaError)) return thrown;
    if (thrown.code === 'UNREACHABLE' && this.#isInClone) {
      const text = thrown.message.replaceAll('"stemma up"', '"npx --no-install stemma up"');
      return new StemmaError(thrown.code, text, thrown.data, thrown);
    }
    if (thrown.code !== 'UNAUTHORIZED') return thrown;
    const [what = ''] = /^.*?\.(?= |$)/s.exec(thrown.message) ?? [thrown.message];
    const where = `that of this data directory is in ${join(this.dataDir, 'token')}`;
    const text = `${what} Name another token with --token or STEMMA_TOKEN; ${where}.`;
    return new StemmaError(thrown.code, text, thrown.data, thrown);
  }

  /** Prints a line of data. */
  data(text: string): void {
    this.deps.stdout.write(`${text}\n`);
  }

  /** Prints one JSON document, on one line. */
  document(value: unknown): void {
    this.deps.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** Says something to a person. */
  talk(text: string): void {
    this.deps.stderr.write(`${text}\n`);
  }

  /** Prints lines of data, cut to the screen if there is one. */
  lines(lines: readonly Line[]): void {
    const style = this.style();
    for (const line of lines) this.data(printLine(line, style));
  }

  /** How lines on stdout look now; a terminal may have changed its width. */
  style(): LineStyle {
    const { stdout, env } = this.deps;
    return {
      columns: stdout.size()?.columns ?? Number.POSITIVE_INFINITY,
      colors: picocolors.createColors(hasColor(stdout, env)),
    };
  }

  /** Runs `work` until it settles or the user ends the command; then it throws `Interrupted` and `signal` is aborted. */
  async interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const offs = (['SIGINT', 'SIGTERM'] as const).map((name) =>
      this.deps.onSignal(name, () => controller.abort(new Interrupted(name))),
    );
    try {
      return await work(controller.signal);
    } finally {
      for (const off of offs) off();
    }
  }
}

// https://no-color.org: any value that is not empty. FORCE_COLOR is the usual way to say the opposite.
function hasColor(output: Output, env: CliDeps['env']): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0';
  return output.isTty && env['TERM'] !== 'dumb';
}
