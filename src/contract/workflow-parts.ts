import { z } from 'zod';
import { durationMs } from './durations.ts';
import { textOf } from './text.ts';

/** How long a name may be that stands in templates. */
const longestName = 100;

/** The name of a step, an output, a sub-agent or a case: it stands in templates, as in `{{steps.NAME.outputs.NAME}}`. */
export const wordName = textOf(longestName, 1).refine(
  (name) => /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name),
  'is no name here; use letters, digits, "_" and "-", beginning with a letter',
);

/** The name of a variable: it also stands in environments, as `INPUT_NAME` or `GROUP_NAME`. */
export const variableName = textOf(longestName, 1).refine(
  (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
  'is no name of a variable; use letters, digits and "_", beginning with a letter',
);

/** A text in which templates are filled in. */
export const templated = textOf(1_000_000, 1);

/** A command for the shell: taken as it is, without templates. */
export const shellText = textOf(100_000, 1).refine((text) => text.trim() !== '', 'must not be empty');

/** A path within the working directory, or one of its own; templates are filled in. */
export const templatedPath = textOf(4_096, 1);

/** Variables of an environment, templates filled in; numbers and truth are taken as their texts. */
export const environment = z
  .record(variableName, z.union([textOf(100_000), z.number(), z.boolean()]).transform(String))
  .meta({
    description: 'Variables of the environment. Values may have templates: this is how values reach a shell.',
  });

/** How long something may take. */
export const timeout = durationMs.refine((ms) => ms > 0, 'must be longer than nothing');

/** A JSON Schema, taken as it is. */
const jsonSchema = z
  .union([z.boolean(), z.record(z.string(), z.json())])
  .meta({ description: 'A JSON Schema that it must fit.' });

/** One thing that a step must leave behind. */
export const outputInput = z
  .union([
    z.strictObject({
      file: templatedPath.meta({ description: 'A file that must be there; a copy of it is kept.' }),
    }),
    z.strictObject({
      json: templatedPath.meta({ description: 'A file of JSON; its value is what it says.' }),
      schema: jsonSchema.optional(),
    }),
    z.strictObject({
      answer: z.literal(true).meta({
        description: 'What an agent answered last, or what a script printed; with a schema it must be JSON.',
      }),
      schema: jsonSchema.optional(),
    }),
    z.strictObject({
      command: shellText.meta({
        description: 'A shell command that must exit with 0; its value is what it prints.',
      }),
    }),
  ])
  .meta({ id: 'WorkflowOutput', description: 'What a step must leave behind, else it has failed.' });
/** An output as it is written. */
export type OutputInput = z.output<typeof outputInput>;

/** What a step must leave behind, by name. */
export const outputsInput = z.record(wordName, outputInput);

/** How often what does not fit goes back into the same conversation. */
export const repairCount = z.int().min(0).max(100);
