import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConversationLog } from './conversations.ts';
import { beginAnew, followDead, readHistory } from './history.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-history-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const fileOf = (id: string): string => join(directory, `${id}.jsonl`);
const find = (id: string): string | undefined => (id === 'gone' ? undefined : fileOf(id));
const said = (content: string): string =>
  `${JSON.stringify({ type: 'queue-operation', operation: 'enqueue', content })}\n`;
const hook = (id: string, source: string): string =>
  `${JSON.stringify({ hook_event_name: 'SessionStart', source, session_id: id, transcript_path: fileOf(id) })}\n\n`;

function heard(log: ConversationLog) {
  const signals: [string, number][] = [];
  const history = readHistory(log, find, (signal, position) => {
    signals.push([signal.type === 'queued' ? signal.text : signal.type, position]);
  });
  return { signals, history };
}

it('is of all conversations in turn, each as far as it was followed', () => {
  const line = said('one').length;
  const log = new ConversationLog(directory, 'a');
  writeFileSync(fileOf('a'), said('one') + said('too late'));
  writeFileSync(fileOf('b'), `${said('two')}{"half`);
  log.add({ id: 'b', path: fileOf('b'), base: line });
  for (const id of ['a', 'b']) {
    const { signals, history } = heard(new ConversationLog(directory, id));
    expect(signals).toEqual([
      ['one', line],
      ['two', 2 * line],
    ]);
    expect(history).toEqual({
      earlier: [fileOf('a')],
      transcript: { path: fileOf('b'), from: line, base: line },
      hasContent: true,
    });
  }
});

it('of another conversation than those that are written down is its own', () => {
  new ConversationLog(directory, 'a').add({ id: 'b', path: fileOf('b'), base: 0 });
  writeFileSync(fileOf('c'), said('other'));
  expect(heard(new ConversationLog(directory, 'c')).signals).toEqual([['other', said('other').length]]);
});

it('goes on where a dead agent had turned to, though nobody heard of it', () => {
  const hooks = join(directory, 'hooks');
  writeFileSync(hooks, hook('a', 'startup') + hook('b', 'clear'));
  writeFileSync(fileOf('a'), said('one'));
  writeFileSync(fileOf('b'), said('two'));
  // Half a line of a process that died.
  appendFileSync(join(directory, 'conversations.jsonl'), '{"from":"a');
  for (let i = 0; i < 2; i++) {
    const log = new ConversationLog(directory, 'a');
    expect(followDead(log, hooks, find)).toEqual({ hasStrayed: false });
    expect(log.last).toEqual({ id: 'b', path: fileOf('b'), base: said('one').length });
  }
  appendFileSync(hooks, hook('c', 'resume'));
  const log = new ConversationLog(directory, 'a');
  expect(followDead(log, hooks, find)).toEqual({ hasStrayed: true });
  expect(log.last.id).toBe('b');
});

it('where nothing was said goes on in a new conversation, whose positions come behind', () => {
  const log = new ConversationLog(directory, 'a');
  writeFileSync(fileOf('a'), '{"type":"mode"}\n');
  const { history } = heard(log);
  expect(history.hasContent).toBe(false);
  const anew = beginAnew(log, history, 'new');
  expect(anew.transcript).toEqual({ path: fileOf('new'), from: 0, base: 16 });
  expect(new ConversationLog(directory, 'a').last).toEqual({ id: 'new', path: fileOf('new'), base: 16 });
  expect(beginAnew(log, { ...anew, transcript: undefined }, 'other').transcript).toBeUndefined();
});
