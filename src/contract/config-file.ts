import { z } from 'zod';
import { durationMs } from './durations.ts';
import { diskSettings, notifyTargets, targetNames } from './notify-targets.ts';
import { isNotTooMany, scheduleName, scheduleOnDisk, tooManySchedules } from './schedule-input.ts';
import { nameText, textOf } from './text.ts';
import { workspaceMode } from './workspace-mode.ts';

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name of an environment variable');

const environment = z
  .record(variableName, textOf(100_000))
  .meta({ description: 'Added to a minimal environment. Values are texts: quote numbers.' });

const secretReferences = z
  .record(
    variableName,
    textOf(10_000).regex(
      /^(?:env:[A-Za-z_][A-Za-z0-9_]*|(?:file|cmd):\s*\S[^]*)$/,
      'is no reference to a secret; write env:NAME, file:PATH or cmd:COMMAND, never the secret itself',
    ),
  )
  .meta({
    description:
      "Variables of the agent's environment whose values are had anew for each launch: env:NAME, file:PATH, cmd:COMMAND. Given to the agent alone, and redacted wherever they would be shown.",
  });

/** A profile as written: the name is the key of the mapping. What is left out, the driver decides. */
export const agentProfileInput = z
  .strictObject({
    driver: nameText.meta({ description: 'Which driver speaks to it: codex, acp, script, …' }),
    command: z
      .array(textOf(100_000))
      .min(1, 'needs a program')
      .refine(([program]) => program !== '', 'begins with the name of a program, which is empty here')
      .optional()
      .meta({ description: 'Program and arguments, as a list. Left out, the driver knows it.' }),
    args: z.array(textOf(100_000)).optional().meta({ description: 'Further arguments, behind the command.' }),
    version: z
      .string()
      .regex(/^\d[\w.+-]*$/, 'is no version; write for example "1.2.3", or "1.2" for every 1.2.x')
      .optional()
      .meta({ description: 'The only version that may be launched; "1.2" stands for every 1.2.x.' }),
    model: nameText.optional(),
    effort: nameText.optional().meta({
      description: "How hard the model thinks, in the agent's own words: low, medium, high, …",
    }),
    env: environment.optional(),
    secrets: secretReferences.optional(),
    home: textOf(4_096, 1).optional().meta({
      description: "Where the agent keeps its own state; relative to this file's directory.",
    }),
    sandbox: z.enum(['readOnly', 'workspace', 'full']).optional(),
    network: z.enum(['allowed', 'denied']).optional().meta({
      description: 'Whether what the agent runs may use the network, where its driver can say so.',
    }),
    onQuestion: z.enum(['deny', 'allow', 'ask']).optional(),
    questionTimeout: durationMs.optional().meta({
      description: 'With onQuestion: ask, how long a person has before the answer is no.',
    }),
    idleTimeout: z
      .union([z.literal('never'), durationMs])
      .optional()
      .meta({
        description:
          'How long its process may be of no use before it is ended; the next message goes on with the same conversation. Default 15m; "never" keeps it.',
      }),
    usage: z.enum(['reported', 'estimated', 'none']).optional().meta({
      description:
        'Whether the agent tells what its turns use; "none": its figures are not taken, and a message with a budget is refused.',
    }),
    workspace: workspaceMode.optional().meta({
      description: 'Where its scheduled runs work, if the schedule says nothing else. Default: exclusive.',
    }),
    schedules: z.enum(['none', 'trigger', 'write']).optional().meta({
      description:
        'What its tools may do with schedules: nothing (the default), begin one, or make new ones too.',
    }),
  })
  .meta({ id: 'AgentProfile' });
export type AgentProfileInput = z.output<typeof agentProfileInput>;

const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
  .meta({
    description:
      'How browsers reach the server through a proxy; its host is accepted. With a path, the proxy may cut that off or not.',
  });

/** Where the ledger is kept, when it is not a file of the data directory. */
export const databaseUrl = z
  .url({ protocol: /^postgres(?:ql)?$/, error: 'must be a URL that begins with postgres://' })
  .meta({
    description:
      'The PostgreSQL database that keeps the ledger, as postgres://USER@HOST/NAME; default: a file of the data directory. STEMMA_DATABASE wins, and is the place for a password.',
  });

// Not a literal: whoever has the file of a later version reads why it is refused.
const apiVersion = z
  .string()
  .refine((version) => version === 'stemma/v1', 'must be stemma/v1; this version of Stemma reads no other')
  .meta({ const: 'stemma/v1', description: 'The form of this file.' });

const reviewKind = z
  .strictObject({
    agent: nameText
      .optional()
      .meta({ description: 'The profile that reviews; default: that of whoever asks.' }),
    prompt: textOf(100_000, 1).meta({
      description:
        'What it is told first. The directory of the record and a summary follow; {{of.directory}}, {{of.outcome}}, {{of.result}}, {{of.runId}} and {{of.summary}} can be used in it too.',
    }),
  })
  .meta({ id: 'Review', description: 'A background agent that reads the record of a run.' });

const turnCount = z.int().min(1).max(10_000);

/** The file `stemma.yaml`. Every part is optional; an empty file is valid. */
export const configFile = z
  .strictObject({
    apiVersion: apiVersion.optional(),
    project: scheduleName.optional().meta({
      description: "What the schedules belong to; default: the name of the file's directory.",
    }),
    agents: z.record(nameText, agentProfileInput).optional(),
    schedules: z.record(scheduleName, scheduleOnDisk).refine(isNotTooMany, tooManySchedules).optional().meta({
      description:
        'By name. Left out, the file says nothing of schedules; an empty mapping says that there are none.',
    }),
    reviews: z.record(nameText, reviewKind).optional().meta({
      description: 'By name: what start_review can start, beside "general".',
    }),
    workflows: textOf(4_096, 1).optional().meta({
      description: 'The directory of the workflow files, relative to this file. Default: workflows.',
    }),
    server: z
      .strictObject({
        host: textOf(255, 1).optional(),
        port: z.int().min(0).max(65_535).optional(),
        publicUrl: publicUrl.optional(),
      })
      .optional(),
    limits: z
      .strictObject({
        turns: turnCount.optional().meta({ description: 'How many turns may run at once.' }),
        perAgent: turnCount.optional().meta({ description: 'How many of them of one agent profile.' }),
        perProject: turnCount.optional().meta({ description: 'How many of them of one project.' }),
      })
      .optional(),
    notify: notifyTargets.optional(),
    notifyAlways: targetNames.optional().meta({
      description: 'Names of the targets that hear of everything that has no schedule.',
    }),
    disk: diskSettings.optional(),
    database: databaseUrl.optional(),
  })
  .meta({ id: 'Config', description: 'The configuration of a Stemma server.' });
export type ConfigFile = z.output<typeof configFile>;

/** The JSON Schema of `stemma.yaml`, for editors. */
export function configJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(configFile, { io: 'input' }), title: 'stemma.yaml' };
}
