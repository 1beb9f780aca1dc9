import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SentLog } from './sent-log.ts';
import { type ClaudeState, newState } from './state.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-claude-log-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const withText = (uuid: string, id: string, state: 'withdrawn' | 'queued'): ClaudeState => ({
  ...newState(),
  texts: new Map([[uuid, { id, state }]]),
});

/** Everything that a log answers. */
function known(log: SentLog): unknown {
  const { base, usd, open, lastId, hasHistory, texts, past, attempts, oldestRest } = log;
  const answers = [0, 150, 500, 10_000].map((at) => [log.replayFrom(at), log.expectedFrom(at)]);
  return { base, usd, open, lastId, hasHistory, texts, past, attempts, oldestRest, answers };
}

function fill(log: SentLog): void {
  log.append({ t: 'process', base: 0 });
  log.append({ t: 'open', id: 'conversation', at: 10 });
  log.append({ t: 'text', id: 'refused', uuid: 'u0' });
  log.append({ t: 'wrote', id: 'refused', outcome: 'refused' });
  log.append({ t: 'text', id: 'lost', uuid: 'u1' });
  log.append({ t: 'text', id: 'heard', uuid: 'u2' });
  log.append({ t: 'fate', id: 'heard', fate: 'consumed' });
  log.append({ t: 'process', base: 100, usd: 2 });
  log.append({ t: 'open', id: 'conversation', at: 110 });
  log.append({ t: 'text', id: 'twice', uuid: 'u3', steered: true });
  log.append({ t: 'wrote', id: 'twice', outcome: 'written' });
  log.settle(120, withText('u3', 'twice', 'withdrawn'));
  log.append({ t: 'text', id: 'twice', uuid: 'u4' });
  log.append({ t: 'text', id: 'back', uuid: 'u5', steered: true });
  log.append({ t: 'wrote', id: 'back', outcome: 'written' });
  log.settle(130, withText('u5', 'back', 'withdrawn'));
}

it('made shorter, the log knows what it knew', () => {
  const log = new SentLog(directory);
  fill(log);
  const state = { ...withText('u4', 'twice', 'queued'), ended: ['turn:5'], usd: 3 };
  for (let at = 200; at < 500; at++) log.rest(at, state);
  const lines = readFileSync(join(directory, 'sent.log'), 'utf8').split('\n').length;
  expect(lines).toBeLessThan(260);
  expect(known(new SentLog(directory))).toEqual(known(log));
  expect(log.mayHaveArrived('lost')).toBe(true);
  expect(log.mayHaveArrived('refused')).toBe(false);
});

it('the fate of an attempt is not that of the next one', () => {
  const log = new SentLog(directory);
  fill(log);
  log.settle(140, withText('u3', 'twice', 'withdrawn'));
  expect(log.past.get('twice')).toBeUndefined();
  expect(log.past.get('back')).toEqual({ uuid: 'u5', fate: 'absent', at: 130 });
});
