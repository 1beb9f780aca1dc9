import { StemmaError } from '../base/errors.ts';
import { nameOf } from './authentication.ts';
import { hashJson } from './bodies.ts';
import type { IdempotencyRef, Idempotency, Principal, StoredAnswer } from './ports.ts';
import { invalidInput } from './problems.ts';

/**
 * The idempotency key of a request, with its scope. `route` names the route and its parameter. Undefined when the
 * caller sent none. Throws `INVALID_INPUT` for a key that is no short visible text.
 */
export function readIdempotencyKey(
  headers: Headers,
  caller: Principal,
  route: string,
  body: unknown,
): IdempotencyRef | undefined {
  const key = headers.get('idempotency-key');
  if (key === null) return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    const message = 'must be 1 to 255 visible ASCII characters';
    throw invalidInput('header', [{ path: 'Idempotency-Key', message }]);
  }
  return { tokenName: nameOf(caller), route, key, bodyHash: hashJson(body) };
}

/** Runs at most once for a key. Throws `IDEMPOTENCY_MISMATCH` when the key belongs to another body. */
export async function runOnce(
  idempotency: Idempotency,
  ref: IdempotencyRef | undefined,
  run: () => Promise<StoredAnswer>,
): Promise<StoredAnswer> {
  if (ref === undefined) return run();
  const outcome = await idempotency.once(ref.tokenName, ref.route, ref.key, ref.bodyHash, run);
  if (outcome.state === 'answered') return outcome.answer;
  throw new StemmaError(
    'IDEMPOTENCY_MISMATCH',
    `The idempotency key ${JSON.stringify(ref.key)} was used with another body. Use a new key for a new request.`,
    { key: ref.key },
  );
}
