import { constants } from 'node:fs';
import { access, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StemmaError } from '../../base/errors.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import type { AgentListing } from '../ports.ts';
import { plainLine } from '../../words/text.ts';
import { schemaText, workflowSchemaText } from './schema.ts';
import type { Options, Registrar } from '../verb.ts';

/** The files that `stemma init` writes and that are in `examples/` too. */
export const initFiles = ['stemma.yaml', 'run.yaml'] as const;
/** Beside them, for editors: of the configuration, and of the files in `workflows/`. */
const schemaFile = 'stemma.schema.json';
const workflowSchemaFile = 'workflow.schema.json';
const schemaFiles = [schemaFile, workflowSchemaFile] as const;
/** Editors with a YAML language server read the schema that is named so. */
const editorHint = `# yaml-language-server: $schema=./${schemaFile}\n`;

/** `stemma init`: writes a commented configuration, with the agents that are found here, and an example of a run. */
export function addInitVerb({ program, verb }: Registrar): void {
  program
    .command('init')
    .description(
      `write ${initFiles.join(' and ')}, commented and with the agents that are found, into this directory, and ${schemaFiles.join(' and ')} for editors`,
    )
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
  const found = await findAgents(context);
  const [config, example] = initFiles;
  const text = await readFile(join(examplesDirectory, config), 'utf8');
  // Exclusive as well: what appeared since the look must not be lost either.
  await writeFile(join(cwd, config), `${editorHint}${withAgents(text, found)}`, {
    flag: isForced ? 'w' : 'wx',
  });
  await copyFile(
    join(examplesDirectory, example),
    join(cwd, example),
    isForced ? 0 : constants.COPYFILE_EXCL,
  );
  // They are ours alone and say nothing of their own: older ones give way.
  await writeFile(join(cwd, schemaFile), schemaText());
  await writeFile(join(cwd, workflowSchemaFile), workflowSchemaText());
  const agents = found.map(({ name }) => name);
  if (context.isJson)
    context.document({ written: [...initFiles, ...schemaFiles].map((name) => join(cwd, name)), agents });
  else for (const name of [...initFiles, ...schemaFiles]) context.data(name);
  if (agents.length === 0)
    context.talk('No agent was found here but the demo; stemma agent ls says how to get one.');
  else context.talk(`Found here, and named in ${config}: ${agents.join(', ')}.`);
  context.talk('Next: stemma up, then stemma run run.yaml in another terminal.');
  context.talk(
    'What shall run by itself stands in stemma.yaml too; take the # away there, then stemma schedule apply --dry-run checks it.',
  );
  return exitCodes.ok;
}

/** Built-in profiles whose programs are here: not those that need none of their own. Nothing that goes wrong is worth a stop. */
async function findAgents({ deps }: CliContext): Promise<AgentListing[]> {
  const listed = await deps.listAgentsOffline({}).catch(() => []);
  return listed.filter(({ install, check }) => install !== undefined && check?.found === true);
}

const heading = '# agents:\n';

/** The example with the profiles of these agents; what it says about profiles stays below them as it is. */
export function withAgents(example: string, found: readonly AgentListing[]): string {
  if (found.length === 0) return example;
  const profiles = found.map((item) => `  ${item.name}: # ${remark(item)}\n    driver: ${item.driver}\n`);
  const own = `agents:\n${profiles.join('')}\n  # More that a profile may say:\n`;
  return example.replace(heading, () => own);
}

function remark({ check }: AgentListing): string {
  const signedIn = { yes: 'signed in', no: 'no sign-in', unknown: 'sign-in unknown' };
  const parts = [`found${check?.version === undefined ? '' : ` ${check.version}`}`];
  if (check?.signedIn) parts.push(signedIn[check.signedIn]);
  return plainLine(parts.join(', '));
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
