import { expect, test } from 'vitest';
import type { Capabilities } from '../port.ts';
import { capabilityTable } from './capability-table.ts';
import type { CaseOutcome, CaseResult } from './report.ts';

const declared: Capabilities = {
  steer: 'proven',
  negativeProof: 'turnEnd',
  turnEnd: 'protocol',
  backgroundTasks: true,
  wakesByItself: false,
  promptCancelsBackground: false,
  resume: 'always',
  locatesCalls: 'byId',
  limits: true,
  usage: 'tokens',
};

function result(name: string, outcome: CaseOutcome, evidence: readonly string[] = []): CaseResult {
  return { name, title: name, outcome, evidence, tookMs: 1 };
}

function proofs(cases: readonly CaseResult[]): Record<string, string> {
  return Object.fromEntries(capabilityTable(declared, cases).map(({ name, proof }) => [name, proof]));
}

test('what no case could show is only declared, and every value has a meaning', () => {
  const table = capabilityTable(declared, []);
  expect(table.map(({ name }) => name)).toEqual(Object.keys(declared));
  expect(table.every(({ proof, meaning }) => proof === 'declared' && meaning !== '')).toBe(true);
});

test('a case that passed proves only what it saw', () => {
  const passed = { state: 'passed' } as const;
  const untaken = [result('steerTaken', passed, ['evidence → {"state":"absent"}'])];
  expect(proofs(untaken)['steer']).toBe('declared');
  const taken = [result('steerTaken', passed, ['@4 taken {"nativeTurnId":"t"}'])];
  expect(proofs(taken)['steer']).toBe('proved');
  const inTime = [result('steerUncertain', passed, ['evidence → {"state":"consumed"}'])];
  expect(proofs(inTime)['negativeProof']).toBe('declared');
});

test('one case that failed refutes what others showed, and a skipped one shows nothing', () => {
  const cases = [
    result('simpleTurn', { state: 'passed' }),
    result('pendingToolCall', { state: 'failed', reason: 'no' }),
    result('resumeAfterKill', { state: 'skipped', reason: 'it cannot' }),
  ];
  expect(proofs(cases)).toMatchObject({ turnEnd: 'refuted', resume: 'declared' });
});
