import { createHmac } from 'node:crypto';

/**
 * The headers of a signed request, as the Standard Webhooks specification describes them: HMAC-SHA256 over
 * `ID.TIMESTAMP.BODY`, in base64 behind `v1,`. A secret that begins with `whsec_` is base64 behind that; any other is
 * taken as it is. Neither id nor timestamp may hold a full stop: it is what parts them.
 */
export function signatureHeaders(
  secret: string,
  id: string,
  nowMs: number,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...unsignedHeaders(id, nowMs), 'webhook-signature': `v1,${signature}` };
}

/** The same without a secret: id and timestamp alone. */
export function unsignedHeaders(id: string, nowMs: number): Record<string, string> {
  return { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(nowMs / 1000)) };
}
