import type { Target } from './port.ts';
import { post } from './post.ts';
import type { SendingParts } from './sending.ts';
import { defaultTimeoutMs, readSecrets } from './sending.ts';
import type { TargetSettings } from './settings.ts';
import { wordsOfMessage } from './words.ts';

/** Longest message, in bytes: what is longer than 4,096 becomes an attachment. */
const longestBytes = 4_000;

/** Publishes to a topic of an ntfy server. */
export function ntfyTarget(
  settings: TargetSettings & { readonly ntfy: string },
  parts: SendingParts,
): Target {
  const { ntfy, token, timeout = defaultTimeoutMs, allowLinkLocal = false } = settings;
  return {
    async send(message, signal) {
      const secrets = await readSecrets({ ntfy, token }, message.target, parts);
      if (!secrets.ok) return secrets;
      const { title, body, url } = wordsOfMessage(message, parts.places());
      const bearer = secrets.values.token?.replace(/[^\x21-\x7e]/g, '');
      const request = {
        url: secrets.values.ntfy ?? '',
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          title: encoded(title),
          click: encodeURI(url),
          'idempotency-key': message.id,
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        },
        body: bytesOf(body === '' ? title : body),
        timeoutMs: timeout,
        allowLinkLocal,
      };
      return post(request, parts.clock, signal);
    },
  };
}

/** A header in letters that every header may have (RFC 2047, which ntfy understands). */
function encoded(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}

/** Cut to so many bytes, never inside a character. */
function bytesOf(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longestBytes) return text;
  let end = longestBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString()}…`;
}
