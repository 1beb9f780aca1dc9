import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bench } from '../../test/cli/bench.ts';
import { instant, problem } from '../../test/cli/contract-server.ts';
import type { Notification } from '../contract/notification.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const failed: Notification = {
  id: 'failed:run_1',
  transition: 'failed',
  title: 'nightly\u001b[31m failed',
  at: instant,
  dispatches: [
    {
      target: 'ops',
      state: 'sending',
      attempts: 2,
      error: { code: 'UNREACHABLE', message: 'ops.example answered 503' },
    },
    { target: 'me', state: 'sent', attempts: 0 },
  ],
};

it('lists whom each thing was told, and why somebody was not', async () => {
  bench.server.routes['GET /notifications'] = () => ({
    body: { items: [failed, { ...failed, id: 'failed:run_2', dispatches: [] }] },
  });
  const { code, out } = await bench.stemma('notify', 'ls', '--state', 'sending', '--transition', 'failed');
  expect(code).toBe(0);
  expect(out).toMatch(/nightly failed +ops +sending, try 3 +ops\.example answered 503/);
  expect(out).toMatch(/nightly failed +me +sent/);
  expect(out).toMatch(/nightly failed +told nobody/);
  expect(out).not.toContain('\u001b');
});

it('tries a target, and its exit code says whether it arrived', async () => {
  bench.server.routes['POST /notify/ops/test'] = () => ({ body: { target: 'ops', sent: true } });
  bench.server.routes['POST /notify/me/test'] = () => ({
    body: { target: 'me', sent: false, message: 'mail.example: wrong password' },
  });
  bench.server.routes['POST /notify/gone/test'] = () => problem('NOT_FOUND', 'No target "gone"');
  expect(await bench.stemma('notify', 'test', 'ops')).toMatchObject({ code: 0, out: 'ops: sent\n' });
  expect(await bench.stemma('notify', 'test', 'me')).toMatchObject({
    code: 1,
    out: 'me: not sent, mail.example: wrong password\n',
  });
  expect((await bench.stemma('notify', 'test', 'gone')).code).toBe(3);
});
