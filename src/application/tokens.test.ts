import { expect, test } from 'vitest';
import type { Call } from '../api/ports.ts';
import { TokenSigner } from '../base/tokens.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { MemoryStore } from '../store/memory/store.ts';
import { createCallers } from './access.ts';

const call: Call = { caller: { kind: 'api', name: 'admin', scope: 'admin' } };
const day = 24 * 3_600_000;

function callers() {
  const clock = new VirtualClock();
  const said: unknown[] = [];
  const { access, tokens } = createCallers({
    clock,
    records: new MemoryStore({ clock }).records,
    signer: new TokenSigner(Buffer.alloc(32)),
    audit: (what, data) => said.push({ what, ...data }),
  });
  return { clock, access, tokens, said };
}

test('a named token is good until it is revoked, and the log says who made and who revoked it', async () => {
  const { clock, access, tokens, said } = callers();
  const made = await tokens.create({ name: 'ci', scope: 'read' }, call);
  if (!made.ok) throw new Error(made.message);
  const { token } = made.value;
  expect(token).toMatch(/^stm_api_/);
  expect(await access.verify(token)).toEqual({ kind: 'api', name: 'ci', scope: 'read' });
  const lastUsedAt = new Date(clock.now()).toISOString();
  expect(await tokens.list()).toEqual([
    { name: 'ci', kind: 'token', scope: 'read', createdAt: made.value.createdAt, lastUsedAt },
  ]);
  clock.advance(day);
  const revokedAt = new Date(clock.now()).toISOString();
  expect(await tokens.revoke('ci', call)).toMatchObject({ ok: true, value: { name: 'ci', revokedAt } });
  expect(await access.verify(token)).toBeUndefined();
  // The second time changes nothing, and is no failure.
  clock.advance(day);
  expect(await tokens.revoke('ci', call)).toMatchObject({ ok: true, value: { revokedAt } });
  const actor = { kind: 'person', name: 'admin' };
  expect(said).toEqual([
    { what: 'token.created', name: 'ci', scope: 'read', actor },
    { what: 'token.revoked', name: 'ci', actor },
  ]);
  expect(JSON.stringify(said)).not.toContain(token);
});

test('a name is one token at a time, also when two ask at once', async () => {
  const { tokens } = callers();
  const both = await Promise.all([1, 2].map(() => tokens.create({ name: 'ci', scope: 'operate' }, call)));
  expect(both.filter(({ ok }) => ok)).toHaveLength(1);
  expect(both).toContainEqual(expect.objectContaining({ ok: false, code: 'ILLEGAL_STATE' }));
  await tokens.revoke('ci', call);
  expect(await tokens.create({ name: 'ci', scope: 'read' }, call)).toMatchObject({ ok: true });
  expect((await tokens.list()).map(({ scope, revokedAt }) => [scope, revokedAt !== undefined])).toEqual([
    ['operate', true],
    ['read', false],
  ]);
});

test('a signed-in browser is among them, can be signed out, and is left out once it has to sign in again', async () => {
  const { clock, access, tokens } = callers();
  const signIn = async (): Promise<string> => {
    const { code } = await access.createSignInCode('admin');
    return (await access.redeem(code))?.cookie ?? '';
  };
  const [first, second] = [await signIn(), await signIn()];
  await tokens.create({ name: 'ci', scope: 'read' }, call);
  const [ci, browser] = await tokens.list();
  expect([ci?.kind, browser?.kind, browser?.scope]).toEqual(['token', 'browser', 'admin']);
  await tokens.revoke(browser?.name ?? '', call);
  const left = [await access.verifyCookie(first), await access.verifyCookie(second)];
  expect(left.filter((principal) => principal === undefined)).toHaveLength(1);
  clock.advance(31 * day);
  expect((await tokens.list()).map(({ name }) => name)).toEqual(['ci']);
});
