import { cut } from './plain.ts';
import type { Target } from './port.ts';
import { post } from './post.ts';
import type { SendingParts } from './sending.ts';
import { defaultTimeoutMs, readSecrets } from './sending.ts';
import type { TargetSettings } from './settings.ts';
import { wordsOfMessage } from './words.ts';

/** Longest text of a block, of the 3,000 characters that Slack takes. */
const longestBlock = 2_900;

/** Posts to an incoming webhook of Slack. */
export function slackTarget(
  settings: TargetSettings & { readonly slack: string },
  parts: SendingParts,
): Target {
  const { slack, timeout = defaultTimeoutMs, allowLinkLocal = false } = settings;
  return {
    async send(message, signal) {
      const secrets = await readSecrets({ slack }, message.target, parts);
      if (!secrets.ok) return secrets;
      const { title, body, url } = wordsOfMessage(message, parts.places());
      // Plain text is shown as it is, whatever is in it; the link is the one thing of our own that is marked up.
      const blocks = [
        plainBlockOf(title),
        ...(body === '' ? [] : [plainBlockOf(body)]),
        { type: 'context', elements: [{ type: 'mrkdwn', text: `<${escaped(url)}|Stemma>` }] },
      ];
      const request = {
        url: secrets.values.slack ?? '',
        headers: { 'content-type': 'application/json; charset=utf-8', 'idempotency-key': message.id },
        body: JSON.stringify({ text: escaped(title), mrkdwn: false, blocks }),
        timeoutMs: timeout,
        allowLinkLocal,
      };
      return post(request, parts.clock, signal);
    },
  };
}

function plainBlockOf(text: string): object {
  return {
    type: 'section',
    text: { type: 'plain_text', text: cut(quiet(text), longestBlock), emoji: false },
  };
}

/** The three characters with which Slack's own markup begins and ends, and mentions, which others understand without it. */
function escaped(text: string): string {
  return quiet(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Nobody is called by what an agent has written: the mark is parted from the name. */
function quiet(text: string): string {
  return text.replace(/@(?=[\p{L}\p{N}])/gu, '@\u200b');
}
