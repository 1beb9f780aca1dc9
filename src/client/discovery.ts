import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { StemmaError } from '../base/errors.ts';
import type { Connection } from './http.ts';

/** What a running server says about itself: its first line with `--json`, and the content of DIR/server.json. */
const serverFile = z.object({
  event: z.literal('ready'),
  url: z.string(),
  dataDir: z.string(),
  tokenFile: z.string(),
  pid: z.int().positive(),
  version: z.string(),
  signInUrl: z.string(),
});
export type ServerFile = z.infer<typeof serverFile>;

/** Where a client looks for a server: what the caller said, and its surroundings. */
export interface DiscoveryInput {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly cwd: string;
}

/** The data directory that is meant: the one named, else STEMMA_DATA, else `~/.stemma`. Always absolute. */
export function dataDirectory(input: Omit<DiscoveryInput, 'url' | 'token'>): string {
  return resolve(
    input.cwd,
    input.dataDir || input.env['STEMMA_DATA'] || join(input.homeDirectory, '.stemma'),
  );
}

/**
 * Finds the server: `url` and `token`, else STEMMA_URL and STEMMA_TOKEN, else the server of the data directory. The token
 * of a data directory is only ever sent to the server of that directory. Throws `UNREACHABLE` when no server is named
 * and none runs.
 */
export async function findServer(input: DiscoveryInput): Promise<Connection> {
  const named = (input.url || input.env['STEMMA_URL'])?.replace(/\/+$/, '');
  const token = input.token || input.env['STEMMA_TOKEN'];
  if (named && token) return { url: named, token };
  const directory = dataDirectory(input);
  const local = await readServerFile(directory);
  if (!named && !local) throw notRunning(directory);
  const localUrl = local?.url.replace(/\/+$/, '');
  const url = named || (localUrl ?? '');
  if (token || !local || localUrl !== url) return token ? { url, token } : { url };
  return { url, token: await readToken(local.tokenFile) };
}

/** The server of a data directory as it described itself, or undefined when none runs there. It may have died since. */
export async function readServerFile(directory: string): Promise<ServerFile | undefined> {
  const text = await readOptional(join(directory, 'server.json'));
  if (text === undefined) return undefined;
  try {
    return serverFile.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The token in a token file. Throws `UNAUTHORIZED` when it cannot be read. */
export async function readToken(file: string): Promise<string> {
  const text = await readOptional(file);
  if (text?.trim()) return text.trim();
  throw new StemmaError(
    'UNAUTHORIZED',
    `The token file ${file} cannot be read. Give a token with --token or STEMMA_TOKEN.`,
  );
}

/** The error for a data directory without a running server. */
export function notRunning(directory: string): StemmaError {
  const message = `No server runs on the data directory ${directory}. Start one with "stemma up", or name one with --url or --data.`;
  return new StemmaError('UNREACHABLE', message, { dataDir: directory });
}

async function readOptional(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}
