import { describe, expect, it } from 'vitest';
import { configFile } from './config-file.ts';
import { parseInput } from './issues.ts';
import { scheduleInput } from './schedule-input.ts';

const good = { cron: '0 2 * * *', agent: 'demo', cwd: '/shop', messages: ['Test it.'] };
const issuesOf = (said: unknown) => {
  const parsed = parseInput(scheduleInput, said);
  return parsed.ok ? [] : parsed.issues.map(({ path, message }) => `${path}: ${message}`);
};

describe('a schedule as it is written', () => {
  it.each([
    [{ messages: [] }, 'messages: needs at least one message'],
    [{ messages: undefined }, 'messages: is missing; a schedule needs messages or a workflow'],
    [{ agent: undefined }, 'agent: is missing; expected string'],
    [{ messages: [''] }, 'messages[0]: must not be empty'],
    [{ cron: undefined }, ': says not when; it needs one of cron, every, at and after'],
    [
      { every: '15m' },
      'every: there is "cron" already; a schedule has exactly one of cron, every, at and after',
    ],
    [{ cron: undefined, every: '500ms' }, 'every: must be at least 1s'],
    [{ cron: undefined, every: 15 }, 'every: must be at least 1s'],
    [{ cron: undefined, every: '15' }, 'every: "15" is no duration'],
    [{ cron: undefined, at: 'tomorrow' }, 'at: "tomorrow" is no date with a time'],
    [{ cron: undefined, at: '2027-02-30T09:00' }, 'at: "2027-02-30T09:00" is no date'],
    [{ cron: undefined, at: '2027-02-30T09:00:00Z' }, 'at: "2027-02-30T09:00:00Z" is no date'],
    [{ cron: undefined, at: '2027-02-28' }, 'at: "2027-02-28" is no date with a time'],
    [{ timezone: 'Europe/Berlim' }, 'timezone: "Europe/Berlim" is no time zone; did you mean Europe/Berlin?'],
    [{ timezone: '+02:00' }, 'timezone: "+02:00" is an offset'],
    [{ cron: '0 2 * *' }, 'cron: "0 2 * *" has 4 fields'],
    [{ cron: '0 25 * * *' }, 'cron: hour: "25" is not from 0 to 23; midnight is 0'],
    [{ cron: '0 0 30 2 *' }, 'cron: day of month: "0 0 30 2 *" never comes'],
    [
      { messages: ['a', 'For {{dat}}.'] },
      'messages[1].text: line 1, character 5 of the text: there is no template {{dat}}',
    ],
    [
      { workflow: 'nightly' },
      'workflow: there is "messages" already; a schedule has either messages or a workflow',
    ],
    [{ cron: undefined, every: 1000.5 }, 'every: 1000.5 is no duration; write for example "30s"'],
    [{ session: 'keeep' }, 'session: '],
    [{ session: { mode: 'fresh', rotate: { turns: 1 } } }, 'session.rotate: is for mode: keep'],
    [{ session: { mode: 'keep', rotate: {} } }, 'session.rotate: needs "turns", "age" or "tokens"'],
    [{ overlap: 'queue' }, 'overlap: expected "skip" or "queueOne" or "cancelOther" or "allow"'],
    [{ catchup: {} }, 'catchup: unknown key "catchup"; did you mean "catchUp"?'],
    [{ catchUp: { policy: 'last' } }, 'catchUp.policy: expected "none" or "latest" or "all"'],
    [{ budget: {} }, 'budget: needs "usd" or "tokens"'],
    [{ cwd: 'shop' }, 'cwd: must be an absolute path'],
    [{ cron: undefined, after: { schedule: 'a/b' } }, 'after.schedule: is no name of a schedule'],
    [
      { cron: undefined, after: { schedule: 'a', deadline: '6:00' } },
      'after.deadline: is no time of the day',
    ],
    [
      { cron: undefined, after: { schedule: 'a', deadline: '24:00' } },
      'after.deadline: is no time of the day',
    ],
    [{ messages: [{ text: 'a', retry: { max: -1 } }] }, 'messages[0].retry.max: '],
    [{ onfailure: 'stop' }, 'onfailure: unknown key'],
  ])('with %j is refused', (more, says) => {
    expect(issuesOf({ ...good, ...more })).toEqual([expect.stringContaining(says)]);
  });

  it.each([
    ['2027-01-01T09:00', '2027-01-01T09:00'],
    ['2027-01-01 09:00:30', '2027-01-01T09:00:30'],
    ['2028-02-29T09:00', '2028-02-29T09:00'],
    ['2027-01-01T09:00:00Z', Date.UTC(2027, 0, 1, 9)],
    ['2027-01-01T09:00+02:00', Date.UTC(2027, 0, 1, 7)],
  ])('at %s is %s', (at, expected) => {
    const { cron: _cron, ...rest } = good;
    expect(scheduleInput.parse({ ...rest, at }).at).toBe(expected);
  });
});

describe('a schedule of a workflow', () => {
  const runs = { cron: '0 2 * * *', cwd: '/shop' };

  it('has its name alone, or a mapping; no agent is needed', () => {
    expect(scheduleInput.parse({ ...runs, workflow: 'nightly' }).workflow).toEqual({ name: 'nightly' });
    const workflow = { name: 'shop/nightly', group: 'eu', inputs: { day: '{{date}}', n: 3 }, timeout: '2h' };
    expect(scheduleInput.parse({ ...runs, workflow }).workflow).toEqual({ ...workflow, timeout: 7_200_000 });
  });

  it.each([
    [{ workflow: {} }, 'workflow.name: is missing; expected string'],
    [{ workflow: { name: 'a', inputs: { day: '{{dat}}' } } }, 'workflow.inputs.day: there is no template'],
    [{ workflow: { name: 'a', inputs: { day: [1] } } }, 'workflow.inputs.day: expected string or number'],
    [{ workflow: { name: 'a', imputs: {} } }, 'did you mean "inputs"?'],
    [{ workflow: 'a', session: 'keep' }, 'session: is for messages; each step of a workflow has'],
  ])('with %j is refused', (more, says) => {
    const parsed = parseInput(scheduleInput, { ...runs, ...more });
    const said = parsed.ok ? [] : parsed.issues.map(({ path, message }) => `${path}: ${message}`);
    expect(said).toEqual([expect.stringContaining(says)]);
  });
});

describe('stemma.yaml', () => {
  it('tells schedules that are none from schedules that it says nothing of', () => {
    expect(configFile.parse({}).schedules).toBeUndefined();
    expect(configFile.parse({ schedules: {} }).schedules).toEqual({});
  });

  it.each([
    [{ apiVersion: 'stemma/v2' }, 'apiVersion: must be stemma/v1'],
    [{ schedules: { 'a/b': good } }, 'schedules.a/b: is no name of a schedule'],
    [{ schedules: { a: { ...good, workflow: 'x' } } }, 'schedules.a.workflow: there is "messages" already'],
    [{ project: 'my shop' }, 'project: is no name'],
    [{ limits: { perAgent: 0 } }, 'limits.perAgent: '],
  ])('with %j is refused', (said, says) => {
    const parsed = parseInput(configFile, said);
    const issues = parsed.ok ? [] : parsed.issues.map(({ path, message }) => `${path}: ${message}`);
    expect(issues).toEqual([expect.stringContaining(says)]);
  });
});
