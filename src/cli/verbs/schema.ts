import { configJsonSchema } from '../../contract/config-file.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import type { Registrar } from '../verb.ts';

/** `stemma schema`: the JSON Schema of `stemma.yaml`, for editors. */
export function addSchemaVerb({ program, verb }: Registrar): void {
  program
    .command('schema')
    .description('print the JSON Schema of stemma.yaml, for editors')
    .action(
      verb(async (context: CliContext) => {
        context.deps.stdout.write(schemaText());
        return exitCodes.ok;
      }),
    );
}

/** The schema as it stands in a file. */
export function schemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}
