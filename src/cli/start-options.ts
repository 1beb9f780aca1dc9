import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { StemmaError } from '../base/errors.ts';
import { databaseUrl } from '../contract/config-file.ts';
import { findConfigFile } from './config-file.ts';
import type { CliContext } from './context.ts';
import type { RunningServer, StartOptions } from './ports.ts';
import { numberOf, type Options, textOf, wholeNumber } from './verb.ts';

const largestPort = 65_535;

/** Gives a verb the options of a server that it starts. */
export function withStartOptions(command: Command): Command {
  return command
    .option(
      '--host <host>',
      'the address to listen on (else STEMMA_HOST, else the configuration, else 127.0.0.1)',
    )
    .option(
      '--port <n>',
      'the port; 0 = any free one (else STEMMA_PORT, else the configuration)',
      wholeNumber(0, largestPort),
    )
    .option(
      '--config <file>',
      'the configuration file (else STEMMA_CONFIG, else ./stemma.yaml if there is one)',
    );
}

/** What flags and environment say; flags win. Throws `INVALID_INPUT` for a port in the environment that is none. */
export function startOptions(context: CliContext, options: Options): StartOptions {
  const { env, cwd } = context.deps;
  // An empty text, as of a variable that is not set, must not mean every address of the machine.
  const host = textOf(options['host']) || env['STEMMA_HOST'] || undefined;
  const port = numberOf(options['port']) ?? portFrom(env['STEMMA_PORT']);
  const named = textOf(options['config']) || env['STEMMA_CONFIG'];
  const configFile = findConfigFile(cwd, named);
  // No flag: whoever lists the processes of a machine reads their arguments.
  const database = databaseFrom(env['STEMMA_DATABASE']);
  return {
    dataDir: resolve(context.dataDir),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(configFile === undefined ? {} : { configFile }),
    ...(database === undefined ? {} : { database }),
  };
}

/** The first line of a server on stdout, which scripts read: to be printed once it answers `/readyz`. */
export function announceReady(context: CliContext, server: Omit<RunningServer, 'stop' | 'stopped'>): void {
  const { url, dataDir, tokenFile, pid, version, signInUrl } = server;
  if (context.isJson) context.document({ event: 'ready', url, dataDir, tokenFile, pid, version, signInUrl });
  else context.data(`stemma ready ${url} data=${dataDir} token=${tokenFile} pid=${pid}`);
}

function databaseFrom(text: string | undefined): string | undefined {
  if (!text) return undefined;
  if (databaseUrl.safeParse(text).success) return text;
  const message = 'STEMMA_DATABASE is no URL of a database; write postgres://USER:PASSWORD@HOST/NAME.';
  throw new StemmaError('INVALID_INPUT', message, { key: 'STEMMA_DATABASE' });
}

function portFrom(text: string | undefined): number | undefined {
  if (!text) return undefined;
  try {
    return wholeNumber(0, largestPort)(text);
  } catch (thrown) {
    if (!(thrown instanceof InvalidArgumentError)) throw thrown;
    throw new StemmaError('INVALID_INPUT', `STEMMA_PORT is "${text}". ${thrown.message}`);
  }
}
