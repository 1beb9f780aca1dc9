import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { id } from '../store/conformance/rows.ts';
import type { AttemptRecord } from '../runs/step-ports.ts';
import type { TranscriptItem } from '../store/records.ts';
import { diskRunRecords } from './disk-run-records.ts';

let directory: string;
let reported: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'records-'));
  reported = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const workflowId = id.execution(1);
const place = { workflowId, step: 'fix it/now', attempt: 2 };
const said: TranscriptItem[] = Array.from({ length: 1_234 }, (_, i) => ({
  sessionId: id.session(1),
  sequence: i + 1,
  turnId: null,
  kind: 'text',
  text: `line ${i}`,
  at: Date.UTC(2026, 0, 1),
}));
const record: AttemptRecord = {
  prompt: 'do it',
  answer: { by: 'agent', text: 'done' },
  sessionId: id.session(1),
  outputs: { n: 1 },
  result: { state: 'succeeded' },
};

function records(at = directory) {
  return diskRunRecords({
    directory: at,
    records: {
      transcript: async (_, after, limit) => said.filter(({ sequence }) => sequence > after).slice(0, limit),
    },
    flush: async () => undefined,
    report: (what) => reported.push(what),
  });
}

describe('the record of an attempt on disk', () => {
  it('has what it was asked, what was said, what it left behind and how it ended, readable only', async () => {
    await records().writeAttempt(place, record);
    const at = records().attemptDirectory(place);
    expect(at).toBe(join(directory, workflowId, 'steps', 'fix%20it%2fnow', '2'));
    expect(readdirSync(at).sort()).toEqual([
      'answer.md',
      'outputs',
      'prompt.md',
      'result.json',
      'transcript.jsonl',
    ]);
    expect(readFileSync(join(at, 'prompt.md'), 'utf8')).toBe('do it');
    expect(JSON.parse(readFileSync(join(at, 'outputs', 'values.json'), 'utf8'))).toEqual({ n: 1 });
    const lines = readFileSync(join(at, 'transcript.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(1_234);
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      at: '2026-01-01T00:00:00Z',
      kind: 'text',
      text: 'line 1233',
    });
    expect(statSync(join(at, 'result.json')).mode & 0o777).toBe(0o444);
  });

  it('is never written again, and what a dead server left unfinished is', async () => {
    const at = records().attemptDirectory(place);
    await records().writeAttempt(place, { ...record, answer: null });
    writeFileSync(join(at, '.answer.md.new'), 'half of');
    await records().writeAttempt(place, { ...record, prompt: 'another' });
    expect(readFileSync(join(at, 'prompt.md'), 'utf8')).toBe('do it');
    expect(readFileSync(join(at, 'answer.md'), 'utf8')).toBe('done');
    expect(readdirSync(at).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('is whole when several write it at the same time, as after a restart', async () => {
    const one = records();
    await Promise.all(Array.from({ length: 8 }, () => one.writeAttempt(place, record)));
    expect(reported).toEqual([]);
    const at = one.attemptDirectory(place);
    expect(readdirSync(at).sort()).toEqual([
      'answer.md',
      'outputs',
      'prompt.md',
      'result.json',
      'transcript.jsonl',
    ]);
    const lines = readFileSync(join(at, 'transcript.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(1_234);
  });

  it('keeps copies of files that were left behind', async () => {
    const file = join(directory, 'report.md');
    writeFileSync(file, 'first');
    const copy = await records().keepFile(place, 'report', { path: file, bytes: 5 });
    writeFileSync(file, 'changed later');
    expect(await records().keepFile(place, 'report', { path: file, bytes: 13 })).toBe(copy);
    expect([readFileSync(copy, 'utf8'), copy.endsWith(join('outputs', 'report.md'))]).toEqual([
      'first',
      true,
    ]);
  });

  it('that cannot be written is reported, and nobody waits for it', async () => {
    const blocked = join(directory, 'blocked');
    writeFileSync(blocked, 'a file where a directory is to be');
    chmodSync(blocked, 0o444);
    await records(blocked).begin(workflowId, { workflow: {}, inputs: {} });
    await records(blocked).writeAttempt(place, record);
    expect(await records(blocked).keepFile(place, 'a', { path: blocked, bytes: 1 })).toBe(blocked);
    expect(new Set(reported)).toEqual(new Set(['record.failed']));
    expect(reported.length).toBeGreaterThan(5);
  });
});
