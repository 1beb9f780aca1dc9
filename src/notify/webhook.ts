import { cloudEventOf } from './cloud-event.ts';
import type { Target } from './port.ts';
import { post } from './post.ts';
import type { SendingParts } from './sending.ts';
import { defaultTimeoutMs, readSecrets } from './sending.ts';
import type { TargetSettings } from './settings.ts';
import { signatureHeaders, unsignedHeaders } from './signature.ts';

/** Posts a CloudEvent in the structured JSON form, signed if there is a secret. */
export function webhookTarget(
  settings: TargetSettings & { readonly webhook: string },
  parts: SendingParts,
): Target {
  const { webhook, secret, headers = {}, timeout = defaultTimeoutMs, allowLinkLocal = false } = settings;
  return {
    async send(message, signal) {
      const own = await readSecrets({ webhook, secret }, message.target, parts);
      if (!own.ok) return own;
      const more = await readSecrets<string>(headers, message.target, parts);
      if (!more.ok) return more;
      const body = JSON.stringify(cloudEventOf(message, parts.places()));
      const now = parts.clock.now();
      const signed =
        own.values.secret === undefined
          ? unsignedHeaders(message.id, now)
          : signatureHeaders(own.values.secret, message.id, now, body);
      const request = {
        url: own.values.webhook ?? '',
        headers: {
          ...printable(more.values),
          'content-type': 'application/cloudevents+json; charset=utf-8',
          'idempotency-key': message.id,
          ...signed,
        },
        body,
        timeoutMs: timeout,
        allowLinkLocal,
      };
      return post(request, parts.clock, signal);
    },
  };
}

/** What a header cannot carry is left out: a line break in a secret would begin another header. */
function printable(values: Readonly<Partial<Record<string, string>>>): Record<string, string> {
  const kept = Object.entries(values).map(([name, value = '']) => [
    name.toLowerCase(),
    value.replace(/[^\t\x20-\x7e\x80-\xff]/g, ''),
  ]);
  return Object.fromEntries(kept) as Record<string, string>;
}
