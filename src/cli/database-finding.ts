import { loadConfigFile } from './config-file.ts';
import type { CliContext } from './context.ts';
import type { Finding } from './finding.ts';
import type { DatabaseLook } from './ports.ts';

const what = 'database';

/** The PostgreSQL database, where one is configured or in the environment. */
export async function databaseFindings(
  context: CliContext,
  configFile: string | undefined,
): Promise<Finding[]> {
  const url = context.deps.env['STEMMA_DATABASE'] || (await configured(configFile));
  if (!url) return [];
  try {
    return [seenOf(await context.deps.lookAtDatabase(url))];
  } catch (error) {
    const { message, code } = error as { message?: string; code?: string };
    const seen = `cannot be reached: ${message || code || 'no answer'}`;
    const advice = 'start it, or correct "database" in the configuration or STEMMA_DATABASE';
    return [{ what, state: 'fail', seen, advice }];
  }
}

// What is wrong with the file is a finding of its own.
async function configured(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return loadConfigFile(file).then(
    ({ database }) => database,
    () => undefined,
  );
}

function seenOf({ place, version, steps, known, isInUse }: DatabaseLook): Finding {
  const use = isInUse ? ', a server works on it' : '';
  const seen = `${place}, PostgreSQL ${version}, schema ${steps} of ${known}${use}`;
  if (steps > known) return { what, state: 'fail', seen, advice: 'use the version of Stemma that wrote it' };
  return steps === 0 || steps === known
    ? { what, state: 'ok', seen }
    : { what, state: 'ok', seen: `${seen}; "stemma up" brings it up to date` };
}
