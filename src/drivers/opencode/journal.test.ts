import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readOne, reduceAll } from './corpus-harness.ts';
import { Journal, sessionInJournal } from './journal.ts';
import type { Signal } from './signal.ts';
import { messageIdOf } from './state.ts';

describe('the journal of a session', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-opencode-journal-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const { state: first, signals } = readOne('steer-in-tool');
  const { sessionId } = first;
  const sending = Object.entries(first.deliveries).map(
    ([deliveryId, { messageId }]): Signal => ({ type: 'sending', deliveryId, messageId }),
  );
  const all = [...sending, ...signals];
  const whole = reduceAll(first, signals);
  const write = (some: readonly Signal[]): void => {
    const { journal } = Journal.open(directory, sessionId, { position: 0, unresolved: [] });
    for (const signal of some) journal.append(signal);
  };

  it('tells again what is behind a position, at every position, and nothing that is before it', () => {
    for (let position = 0; position <= whole.state.position; position++) {
      write(all);
      const opened = Journal.open(directory, sessionId, { position, unresolved: [] });
      expect(opened.unheard).toEqual(whole.events.slice(position));
      expect(opened.state).toEqual(whole.state);
      // What was processed is dropped; what is left is the same the next time.
      const again = Journal.open(directory, sessionId, { position, unresolved: [] });
      expect(again.unheard).toEqual(whole.events.slice(position));
      rmSync(join(directory, 'opencode-journal.jsonl'));
    }
  });

  it('goes on after our death at every signal', () => {
    for (let cut = 0; cut <= all.length; cut++) {
      write(all.slice(0, cut));
      const opened = Journal.open(directory, sessionId, { position: 0, unresolved: [] });
      const after = reduceAll(opened.state, all.slice(cut));
      expect([...opened.unheard, ...after.events]).toEqual(whole.events);
      rmSync(join(directory, 'opencode-journal.jsonl'));
    }
  });

  it('passes over a line that our death has cut', () => {
    write(all);
    appendFileSync(join(directory, 'opencode-journal.jsonl'), '{"type":"noise","wh');
    const opened = Journal.open(directory, sessionId, { position: 0, unresolved: [] });
    expect(opened.unheard).toEqual(whole.events);
  });

  it('knows its conversation, and begins behind what was processed when it is another one', () => {
    expect(sessionInJournal(directory)).toBeUndefined();
    write(all);
    expect(sessionInJournal(directory)).toBe(sessionId);
    const other = Journal.open(directory, 'ses_other', { position: 40, unresolved: ['trn_1'] });
    expect(other).toMatchObject({ isNew: true, unheard: [], state: { position: 40 } });
    expect(other.state.deliveries).toEqual({
      trn_1: { messageId: messageIdOf('trn_1'), isSent: true, isHeard: false },
    });
  });

  it('never falls behind a position that somebody else has counted', () => {
    write(all);
    const { state } = Journal.open(directory, sessionId, { position: 900, unresolved: [] });
    expect(state.position).toBe(900);
  });
});

describe('the name of a text', () => {
  it('is the same each time, of the form that opencode gives, and sorts by the birth of the text', () => {
    const [early, late] = ['trn_01K0000000AAAAAAAAAAAAAAAA', 'str_01K0000001AAAAAAAAAAAAAAAA'].map(
      messageIdOf,
    );
    expect(early).toMatch(/^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
    expect(messageIdOf('trn_01K0000000AAAAAAAAAAAAAAAA')).toBe(early);
    expect((early ?? '') < (late ?? '')).toBe(true);
    expect(messageIdOf('anything else')).toMatch(/^msg_0{12}[0-9A-Za-z]{14}$/);
  });
});
