import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Waiting } from '../contract/execution.ts';
import { Bench } from '../../test/cli/bench.ts';
import { exe, execution, instant, problem, ses, tree } from '../../test/cli/contract-server.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const question: Waiting = { for: 'input', since: instant, text: 'Delete it?', choices: ['yes', 'no'] };

it('gives the answer, and says a refusal of the server', async () => {
  bench.server.routes[`POST /executions/${exe}/answer`] = ({ choice }) =>
    choice === 'yes' ? { body: execution() } : problem('INVALID_INPUT', '"maybe" is not one of the answers');
  expect(await bench.stemma('answer', exe, 'yes')).toMatchObject({
    code: 0,
    out: `${exe} Hello.: answered yes\n`,
  });
  const refused = await bench.stemma('answer', exe, 'maybe');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain('not one of the answers');
});

it('without an answer shows what is asked, with its choices, and exits 8', async () => {
  bench.server.routes[`GET /executions/${exe}/tree`] = () => ({
    body: tree(execution({ waiting: question })),
  });
  const { code, out } = await bench.stemma('answer', exe);
  expect(code).toBe(8);
  expect(out).toContain('Delete it?');
  expect(out).toContain('answers: yes, no');
});

it('offers to resume or to give up what waits for a limit', async () => {
  const waiting: Waiting = { for: 'capacity', since: instant, text: 'weekly limit' };
  bench.server.routes[`GET /executions/${exe}/tree`] = () => ({ body: tree(execution({ waiting })) });
  const { code, out } = await bench.stemma('answer', exe);
  expect(code).toBe(0);
  expect(out).toContain('answers: resume, giveUp');
});

it('says that nothing asks', async () => {
  bench.server.routes[`GET /executions/${exe}/tree`] = () => ({ body: tree(execution()) });
  expect(await bench.stemma('answer', exe)).toMatchObject({ code: 0, out: '' });
});

it('decides about the limit of a session', async () => {
  const session = {
    id: ses,
    agent: 'codex',
    cwd: '/',
    state: 'live',
    queued: 1,
    createdAt: instant,
    lastActivityAt: instant,
  };
  bench.server.routes[`POST /sessions/${ses}/capacity`] = () => ({ body: session });
  const resumed = await bench.stemma('session', 'capacity', ses, 'resume');
  expect(resumed).toMatchObject({ code: 0, out: `${ses}: goes on\n` });
  expect(bench.server.seen.at(-1)?.body).toEqual({ action: 'resume' });
  expect(await bench.stemma('session', 'capacity', ses, 'perhaps')).toMatchObject({ code: 2 });
});
