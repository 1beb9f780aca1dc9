import { expect, test } from 'vitest';
import type { MonitorRow } from '../../../../src/contract/execution.ts';
import { choicesOf, monitorRows } from './monitor-rows.ts';

const row = (name: string, more: Partial<MonitorRow> = {}): MonitorRow => ({
  id: `exe_${name}`,
  name,
  kind: 'message',
  state: 'running',
  createdAt: '2026-11-30T10:00:00.000Z',
  ageMs: 0,
  open: { executions: 1, notices: 0 },
  holding: [],
  ...more,
});
const everything = { search: '', agent: '', project: '', label: '', onlyNeedsPerson: false };
const asks = row('asks', {
  agent: 'codex',
  createdAt: '2026-11-30T11:00:00.000Z',
  waiting: { for: 'input', since: '2026-11-30T11:00:00.000Z' },
});
const older = row('older', {
  agent: 'claude',
  project: 'shop',
  labels: ['nightly', 'slow'],
  createdAt: '2026-11-30T09:00:00.000Z',
});
const all = [row('plain'), asks, older];

const namesOf = (rows: readonly MonitorRow[]): string[] => rows.map(({ name }) => name);

test('what needs a person is first, then the oldest', () => {
  expect(namesOf(monitorRows(all, everything))).toEqual(['asks', 'older', 'plain']);
});

test('all words of a search must be found, in whatever is known of a root', () => {
  expect(namesOf(monitorRows(all, { ...everything, search: 'CLAUDE old' }))).toEqual(['older']);
  expect(namesOf(monitorRows(all, { ...everything, search: 'claude asks' }))).toEqual([]);
});

test('one agent, and what needs a person alone', () => {
  expect(namesOf(monitorRows(all, { ...everything, agent: 'codex' }))).toEqual(['asks']);
  expect(namesOf(monitorRows(all, { ...everything, onlyNeedsPerson: true }))).toEqual(['asks']);
  expect(choicesOf(all)).toEqual({
    agent: ['claude', 'codex'],
    project: ['shop'],
    label: ['nightly', 'slow'],
  });
});

test('one project, one label', () => {
  expect(namesOf(monitorRows(all, { ...everything, project: 'shop' }))).toEqual(['older']);
  expect(namesOf(monitorRows(all, { ...everything, label: 'slow' }))).toEqual(['older']);
  expect(monitorRows(all, { ...everything, label: 'slo' })).toEqual([]);
  expect(namesOf(monitorRows(all, { ...everything, search: 'shop nightly' }))).toEqual(['older']);
});
