import { z } from 'zod';
import { durationMs } from './durations.ts';
import { textOf } from './text.ts';

/** The name of a target: it becomes part of ids and of a variable of commands. */
export const targetName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'is no name of a target; use up to 64 letters, digits, "_" and "-", beginning with a letter or a digit',
  )
  .meta({ description: 'The name of a target of notifications.' });

const reference = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|(?:file|cmd):\s*\S[^]*)$/;

const secret = textOf(10_000)
  .regex(
    reference,
    'is no reference to a secret; write env:NAME, file:PATH or cmd:COMMAND, never the secret itself',
  )
  .meta({ description: 'A reference, resolved when something is sent: env:NAME, file:PATH, cmd:COMMAND.' });

const address = textOf(4_096, 1)
  .refine((value) => reference.test(value) || /^https?:\/\/[^\s/]/.test(value), {
    message:
      'must be a URL that begins with http:// or https://, or a reference to one: env:NAME, file:PATH, cmd:COMMAND',
  })
  .meta({ description: 'A URL, http or https; or, where it is a secret, a reference to one.' });

const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'is no name of an HTTP header')
  .refine((name) => !/^(webhook-.*|content-.*|host|connection|transfer-encoding)$/i.test(name), {
    message: 'is set by Stemma itself',
  });

const mailAddress = textOf(320, 3).refine((value) => /^[^\s@<>,;:"()\\]+@[^\s@<>,;:"()\\]+$/.test(value), {
  message: 'is no mail address; write it bare, as in ops@example.org',
});

const mail = z
  .strictObject({
    to: z.union([mailAddress.transform((one) => [one]), z.array(mailAddress).min(1).max(50)]),
    from: mailAddress,
    host: textOf(255, 1).meta({ description: 'The SMTP server that takes the mail.' }),
    port: z.int().min(1).max(65_535).optional().meta({ description: 'Default: 465 for tls, else 587.' }),
    security: z.enum(['tls', 'starttls', 'none']).optional().meta({
      description:
        'tls: from the first byte. starttls (the default): nothing is sent before the connection is encrypted. none: for a server on this machine.',
    }),
    user: textOf(320, 1).optional(),
    password: secret.optional(),
  })
  .refine((value) => (value.user === undefined) === (value.password === undefined), {
    message: 'needs user and password together, or neither',
  });

/** The keys of which a target has exactly one: how it is told. */
const ways = ['webhook', 'command', 'mail', 'ntfy', 'slack'] as const;
const allowed: Readonly<Record<string, readonly string[]>> = {
  secret: ['webhook'],
  headers: ['webhook'],
  token: ['ntfy'],
  allowLinkLocal: ['webhook', 'ntfy', 'slack'],
};

/** Somebody or something that is told of transitions. */
export const notifyTarget = z
  .strictObject({
    webhook: address.optional().meta({ description: 'A CloudEvent is posted to this URL.' }),
    command: z
      .union([textOf(100_000, 1), z.array(textOf(100_000)).min(1)])
      .optional()
      .meta({
        description: 'A command for /bin/sh, or program and arguments as a list; the JSON is on its stdin.',
      }),
    mail: mail.optional(),
    ntfy: address.optional().meta({ description: 'The URL of a topic of an ntfy server.' }),
    slack: address
      .optional()
      .meta({ description: 'An incoming webhook of Slack, or of what understands the same.' }),
    secret: secret.optional().meta({
      description: 'Of a webhook: signs each request as Standard Webhooks describes. A reference.',
    }),
    headers: z.record(headerName, secret).optional().meta({
      description: 'Of a webhook: further headers; the values are references.',
    }),
    token: secret.optional().meta({ description: 'Of ntfy: an access token. A reference.' }),
    timeout: durationMs
      .refine((ms) => ms >= 100 && ms <= 300_000, 'must be between 100ms and 5m')
      .optional()
      .meta({ description: 'How long one attempt may take. Default 15s; of a command 30s.' }),
    allowLinkLocal: z.boolean().optional().meta({
      description: 'Whether the URL may lead to a link-local address, as those of cloud metadata are.',
    }),
  })
  .superRefine((target, context) => {
    const given = ways.filter((way) => target[way] !== undefined);
    if (given.length !== 1) {
      const what = given.length === 0 ? 'says not how it is told' : `has ${given.join(' and ')}`;
      context.addIssue({ code: 'custom', message: `${what}; give exactly one of ${ways.join(', ')}` });
    }
    for (const [key, of] of Object.entries(allowed)) {
      if (target[key as keyof typeof target] === undefined || given.some((way) => of.includes(way))) continue;
      context.addIssue({ code: 'custom', path: [key], message: `is only for ${of.join(', ')}` });
    }
  })
  .meta({ id: 'NotifyTarget' });
export type NotifyTarget = z.output<typeof notifyTarget>;

/** `notify` of `stemma.yaml`: targets by name. */
export const notifyTargets = z
  .record(targetName, notifyTarget)
  // Each may hold a handler for as long as it hangs, and runs want theirs.
  .refine((targets) => Object.keys(targets).length <= 32, 'has more than 32 targets')
  .meta({
    description:
      'Who can be told of transitions. Schedules name them in `notify`; `notifyAlways` hears of what has no schedule.',
  });
export type NotifyTargets = z.output<typeof notifyTargets>;

/** A list of names of targets, each once: `notify` of a schedule, `notifyAlways` of the file. */
export const targetNames = z
  .array(targetName)
  .max(20, 'names more than 20 targets')
  .refine((names) => new Set(names).size === names.length, 'names a target twice');

/** `disk` of `stemma.yaml`. */
export const diskSettings = z.strictObject({
  lowBytes: z.int().min(0).optional().meta({
    description: 'People are told when the data directory has less than this free; 0: never. Default 1 GiB.',
  }),
});
export type DiskSettings = z.output<typeof diskSettings>;
