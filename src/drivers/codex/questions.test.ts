import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentProfile } from '../port.ts';
import { Questions } from './questions.ts';
import type { ServerRequest } from './rpc-client.ts';

const command: ServerRequest = {
  id: 7,
  method: 'item/commandExecution/requestApproval',
  params: {
    threadId: 't',
    itemId: 'call_1',
    command: 'rm -rf x',
    cwd: '/work',
    availableDecisions: ['accept', 'acceptForSession'],
  },
};
const toolUse = (serverName: string): ServerRequest => ({
  id: 8,
  method: 'mcpServer/elicitation/request',
  params: {
    threadId: 't',
    serverName,
    message: 'Allow?',
    _meta: { codex_approval_kind: 'mcp_tool_call' },
    requestedSchema: { type: 'object', properties: {} },
  },
});
const form: ServerRequest = {
  id: 9,
  method: 'mcpServer/elicitation/request',
  params: {
    threadId: 't',
    serverName: 'theirs',
    message: 'Your name?',
    requestedSchema: { required: ['name'] },
  },
};
const input: ServerRequest = {
  id: 10,
  method: 'item/tool/requestUserInput',
  params: {
    threadId: 't',
    itemId: 'i',
    questions: [{ id: 'q', question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }],
  },
};

describe('questions of codex', () => {
  let replies: unknown[];
  let events: unknown[];
  const make = (onQuestion: NonNullable<AgentProfile['onQuestion']>): Questions =>
    new Questions({
      onQuestion,
      toolsName: 'stemma',
      respond: (id, result) => replies.push([id, result]),
      reject: (id, text) => replies.push([id, text]),
      emit: (event) => events.push(event),
    });
  beforeEach(() => {
    [replies, events] = [[], []];
  });

  it.each([
    ['deny', 'decline'],
    ['allow', 'accept'],
  ] as const)('are answered by a profile that says %s', (onQuestion, decision) => {
    make(onQuestion).ask(command);
    expect(replies).toEqual([[7, { decision }]]);
    expect(events).toEqual([]);
  });

  it('are put to a person with two choices, and answered once', () => {
    const questions = make('ask');
    questions.ask(command);
    expect(events).toMatchObject([
      { type: 'waiting', waitsFor: 'input', questionId: '7-call_1', choices: ['accept', 'decline'] },
    ]);
    expect(questions.answer('7-call_1', 'acceptForSession')).toBe(false);
    expect(questions.answer('other', 'accept')).toBe(false);
    expect(replies).toEqual([]);
    expect(questions.answer('7-call_1', 'decline')).toBe(true);
    questions.resolved(7);
    expect(replies).toEqual([[7, { decision: 'decline' }]]);
    expect(events.at(-1)).toEqual({ type: 'resumed' });
    expect(questions.answer('7-call_1', 'accept')).toBe(false);
  });

  it('that are asked again are not reported again, and get an answer that was lost', () => {
    const questions = make('ask');
    questions.ask(command);
    questions.answer('7-call_1', 'accept');
    questions.ask(command);
    expect(events).toHaveLength(1);
    expect(replies).toEqual([
      [7, { decision: 'accept' }],
      [7, { decision: 'accept' }],
    ]);
  });

  it('about our own tools are always allowed, about others by the profile', () => {
    const questions = make('deny');
    questions.ask(toolUse('stemma'));
    questions.ask(toolUse('theirs'));
    expect(replies).toMatchObject([
      [8, { action: 'accept' }],
      [8, { action: 'decline' }],
    ]);
  });

  it('that need a form are declined, also by a profile that allows everything', () => {
    make('allow').ask(form);
    expect(replies).toMatchObject([[9, { action: 'decline' }]]);
  });

  it('with options of their own are answered with one of them', () => {
    const questions = make('ask');
    questions.ask(input);
    expect(questions.answer('10-i', 'b')).toBe(true);
    expect(replies).toEqual([[10, { answers: { q: { answers: ['b'] } } }]]);
  });

  it('that nobody knows are refused, and never left open', () => {
    make('ask').ask({ id: 11, method: 'something/new', params: { threadId: 't' } });
    expect(replies).toMatchObject([[11, expect.stringContaining('not supported')]]);
  });

  it('of the wrong shape are still answered', () => {
    make('deny').ask({ id: 12, method: 'item/commandExecution/requestApproval', params: 'nonsense' });
    make('deny').ask({ id: 13, method: 'mcpServer/elicitation/request', params: null });
    expect(replies).toMatchObject([
      [12, { decision: 'decline' }],
      [13, { action: 'decline' }],
    ]);
  });
});
