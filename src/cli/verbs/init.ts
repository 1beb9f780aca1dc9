import { constants } from 'node:fs';
import { access, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StemmaError } from '../../base/errors.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import type { Options, Registrar } from '../verb.ts';

/** The files that `stemma init` writes, as they are called in `examples/` too. */
export const initFiles = ['stemma.yaml', 'run.yaml'] as const;

/** `stemma init`: writes a commented configuration and an example of a run. */
export function addInitVerb({ program, verb }: Registrar): void {
  program
    .command('init')
    .description(`write ${initFiles.join(' and ')}, commented, into this directory`)
    .option('--force', 'overwrite what is there')
    .action(verb(init));
}

async function init(context: CliContext, _args: readonly unknown[], options: Options): Promise<number> {
  const { cwd, examplesDirectory } = context.deps;
  const isForced = options['force'] === true;
  const existing = isForced ? [] : await existingFiles(cwd);
  if (existing.length > 0) {
    const exist = existing.length === 1 ? 'exists' : 'exist';
    const message = `${existing.join(' and ')} ${exist} already; nothing was written. Use --force to overwrite.`;
    throw new StemmaError('ILLEGAL_STATE', message, { files: existing });
  }
  for (const name of initFiles) {
    // Exclusive as well: what appeared since the look must not be lost either.
    const mode = isForced ? 0 : constants.COPYFILE_EXCL;
    await copyFile(join(examplesDirectory, name), join(cwd, name), mode);
  }
  if (context.isJson) context.document({ written: initFiles.map((name) => join(cwd, name)) });
  else for (const name of initFiles) context.data(name);
  context.talk('Next: stemma up, then stemma run run.yaml in another terminal.');
  return exitCodes.ok;
}

async function existingFiles(directory: string): Promise<string[]> {
  const found = await Promise.all(
    initFiles.map((name) =>
      access(join(directory, name)).then(
        () => [name],
        () => [],
      ),
    ),
  );
  return found.flat();
}
