import { Argument } from 'commander';
import { configJsonSchema } from '../../contract/config-file.ts';
import { workflowJsonSchema } from '../../contract/workflow-file.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import type { Registrar } from '../verb.ts';

/** `stemma schema`: the JSON Schema of `stemma.yaml`, or of workflow files, for editors. */
export function addSchemaVerb({ program, verb }: Registrar): void {
  program
    .command('schema')
    .description('print the JSON Schema of stemma.yaml, or of workflow files, for editors')
    .addArgument(new Argument('[file]', 'of which file').choices(['config', 'workflow']).default('config'))
    .action(
      verb(async (context: CliContext, [file]) => {
        context.deps.stdout.write(file === 'workflow' ? workflowSchemaText() : schemaText());
        return exitCodes.ok;
      }),
    );
}

/** The schema as it stands in a file. */
export function schemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

/** That of workflow files. */
export function workflowSchemaText(): string {
  return `${JSON.stringify(workflowJsonSchema(), null, 2)}\n`;
}
