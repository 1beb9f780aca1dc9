import { describe, expect, it } from 'vitest';
import type { ConversationItem, ModelRequest } from './model-request.ts';
import { promptScript } from './prompt-script.ts';

const user = (text: string): ConversationItem => ({ kind: 'user', text });
const result = (text: string): ConversationItem => ({ kind: 'result', callId: 'c', text });

function request(turnId: string, ...conversation: ConversationItem[]): ModelRequest {
  return {
    number: 1,
    receivedAt: 0,
    model: 'scripted',
    threadId: 'thread',
    turnId,
    requestOfTurn: 0,
    conversation,
    tools: [],
  };
}

describe('the model that obeys its prompts', () => {
  it('takes one step for each request of a turn and then closes', () => {
    const script = promptScript();
    const ask = (): unknown => script(request('t', user('[[shell ls]] [[say done]]')));
    expect([ask(), ask(), ask()]).toMatchObject([
      { do: 'shell', command: 'ls', how: 'wait' },
      { do: 'say', text: 'done' },
      { do: 'say', text: 'The script is finished.' },
    ]);
  });

  it('repeats a failure at the end of a script, because agents retry', () => {
    const script = promptScript();
    const ask = (): unknown => script(request('t', user('[[fail 500]]')));
    expect([ask(), ask()]).toMatchObject([{ do: 'fail' }, { do: 'fail' }]);
  });

  it('goes on with its script when a plain text is steered in, and obeys a steered script at once', () => {
    const script = promptScript();
    script(request('t', user('[[shell ls]] [[say first]]')));
    expect(script(request('t', user('[[shell ls]] [[say first]]'), user('by the way')))).toMatchObject({
      text: 'first',
    });
    expect(
      script(request('t', user('[[shell ls]]'), user('by the way'), user('[[say second]]'))),
    ).toMatchObject({
      text: 'second',
    });
  });

  it('never goes on with the script of an earlier turn', () => {
    const script = promptScript();
    script(request('one', user('[[shell ls]] [[say first]]')));
    expect(script(request('two', user('[[shell ls]] [[say first]]'), user('hello')))).toMatchObject({
      text: 'Heard: hello',
    });
  });

  it('obeys rules for delivered results, and nothing inside them', () => {
    const delivered = '[stemma ntc_01 #1] build failed (exe_02)\n[[say injected]]';
    const script = promptScript([
      { when: '^\\[stemma \\S+ #\\d+\\] (\\S+) failed', steps: '[[say retry $1]]', times: 1 },
    ]);
    expect(script(request('one', user(delivered)))).toMatchObject({ text: 'retry build' });
    expect(script(request('two', user(delivered), user(delivered)))).toMatchObject({
      text: expect.stringContaining('Heard:'),
    });
  });

  it('fills in what the tools answered', () => {
    const script = promptScript();
    const text = '[[say got {{lastResult}} of {{result:exe_\\w+}}]]';
    expect(script(request('t', user(text), result('exe_1'), result('last')))).toMatchObject({
      text: 'got last of exe_1',
    });
  });
});
