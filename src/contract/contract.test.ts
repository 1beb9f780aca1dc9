import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { configFile, configJsonSchema } from './config-file.ts';
import { parseDurationMs } from './durations.ts';
import { parseInput, sayIssues } from './issues.ts';
import { findNearest } from '../base/nearest.ts';
import { queryBody, registerBody, settleBody } from './requests.ts';
import { pathOf, routeTable } from './routes.ts';
import { runFile } from './run-file.ts';
import { toolArguments } from './tools.ts';

function issuesOf(schema: z.ZodType, input: unknown) {
  const result = parseInput(schema, input);
  return result.ok ? [] : result.issues;
}

describe('durations', () => {
  test.each([
    ['30s', 30_000],
    ['90m', 5_400_000],
    ['4h', 14_400_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['1.5s', 1_500],
    ['2d', 172_800_000],
    ['1.1m', 66_000],
    [1_500, 1_500],
    [0, 0],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  test.each([
    '',
    '30',
    's',
    '-5s',
    '5 s',
    '1h 30m',
    '30x',
    '1e3s',
    '400d',
    'Infinity',
    '1.5ms',
    1000.5,
    -1,
    Number.NaN,
    Infinity,
  ])('%s is no duration', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});

describe('the nearest word', () => {
  test.each([
    ['mesage', 'message'],
    ['onfailure', 'onFailure'],
    ['on_failure', 'onFailure'],
    ['timoeut', 'timeout'],
  ])('of %s is %s', (word, expected) => {
    expect(findNearest(word, ['message', 'timeout', 'onFailure'])).toBe(expected);
  });

  test('of something else is none', () => {
    expect(findNearest('banana', ['message', 'timeout'])).toBeUndefined();
    expect(findNearest('x'.repeat(100_000), ['message'])).toBeUndefined();
  });
});

describe('input', () => {
  test('an unknown key is refused by its name, with the nearest valid one', () => {
    expect(issuesOf(queryBody, { message: 'hi', timout: '4h' })).toEqual([
      { path: 'timout', message: 'unknown key "timout"; did you mean "timeout"?', nearest: 'timeout' },
    ]);
  });

  test('a mistake within a list is found in the branch that was meant', () => {
    const issues = issuesOf(runFile, {
      agent: 'a',
      messages: ['one', { text: 'two', timeout: 'soon' }, { text: 'three', onfailure: 'stop' }, 4],
    });
    expect(issues.map(({ path, nearest }) => [path, nearest])).toEqual([
      ['messages[1].timeout', undefined],
      ['messages[2].onfailure', 'onFailure'],
      ['messages[3]', undefined],
    ]);
    expect(issues[2]?.message).toBe('expected string or object');
  });

  test('a wrong word of a choice names the choices and the nearest', () => {
    const [issue] = issuesOf(queryBody, { message: 'hi', whenBusy: 'queu' });
    expect(issue).toEqual({
      path: 'whenBusy',
      message: 'expected "queue" or "steer" or "reject"',
      nearest: 'queue',
    });
  });

  test('a text that would hurt on the way is refused', () => {
    expect(sayIssues(issuesOf(queryBody, { message: 'a\0b' }))).toBe('message: contains a NUL character');
    expect(sayIssues(issuesOf(queryBody, { message: 'a\ud800b' }))).toBe(
      'message: contains half of a surrogate pair',
    );
    expect(sayIssues(issuesOf(queryBody, { message: ' \n ' }))).toBe('message: must not be empty');
    expect(sayIssues(issuesOf(queryBody, { message: 'x', cwd: 'here' }))).toBe(
      'cwd: must be an absolute path',
    );
    expect(issuesOf(queryBody, { message: '😀 line\nline' })).toEqual([]);
  });

  test('a run file becomes messages with milliseconds', () => {
    const file = { agent: 'demo', messages: ['a', { text: 'b', timeout: '30s', onFailure: 'continue' }] };
    expect(parseInput(runFile, file)).toEqual({
      ok: true,
      value: {
        agent: 'demo',
        messages: [{ text: 'a' }, { text: 'b', timeout: 30_000, onFailure: 'continue' }],
      },
    });
    expect(sayIssues(issuesOf(runFile, { agent: 'demo', messages: [] }))).toMatch('at least one message');
  });

  test('kinds that only Stemma makes cannot be registered', () => {
    for (const kind of ['message', 'continuation', 'late', 'task']) {
      expect(issuesOf(registerBody, { kind, name: 'x' })).toHaveLength(1);
    }
    expect(parseInput(registerBody, { name: 'x' })).toEqual({
      ok: true,
      value: { kind: 'outside', name: 'x' },
    });
  });

  test('a result may be text or JSON, an error a text or an object', () => {
    expect(parseInput(settleBody, { state: 'succeeded', result: { rows: 3 } })).toEqual({
      ok: true,
      value: { state: 'succeeded', result: '{"rows":3}' },
    });
    expect(parseInput(settleBody, { state: 'failed', error: 'broken' })).toEqual({
      ok: true,
      value: { state: 'failed', error: { message: 'broken' } },
    });
  });

  test('an empty configuration is valid, a misspelt one is explained', () => {
    expect(issuesOf(configFile, {})).toEqual([]);
    const issues = issuesOf(configFile, {
      agents: { a: { driver: 'acp', comand: ['x'], env: { PORT: 1 } } },
    });
    expect(issues.map(({ path }) => path)).toEqual(['agents.a.env.PORT', 'agents.a.comand']);
    expect(issues[1]?.nearest).toBe('command');
  });

  test('a tool refuses an argument that it does not know', () => {
    const issues = issuesOf(toolArguments.run_in_background, { name: 'x', instructions: 'do it' });
    expect(issues.map(({ path }) => path)).toEqual(['instruction', 'instructions']);
  });
});

describe('the routes', () => {
  test('every schema can be described', () => {
    for (const spec of Object.values(routeTable)) {
      expect(z.toJSONSchema(spec.answer, { io: 'output' })).toBeDefined();
      if (spec.body) expect(z.toJSONSchema(spec.body, { io: 'input' })).toBeDefined();
      if (spec.query) expect(z.toJSONSchema(spec.query, { io: 'input' })).toBeDefined();
    }
    expect(configJsonSchema()).toHaveProperty(['$defs', 'Config', 'properties', 'server']);
  });

  test('no method and path is there twice', () => {
    const all = Object.values(routeTable).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(all).size).toBe(all.length);
  });

  test('a parameter is escaped', () => {
    expect(pathOf('getTree', 'exe_1/../x?')).toBe('/api/v1/executions/exe_1%2F..%2Fx%3F/tree');
  });
});
