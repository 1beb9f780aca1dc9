import { expect, test } from 'vitest';
import { versionWarning, waitBeforeLoadMs } from './known-agents.ts';

test('another version than the proved one is told, and nothing is said of an agent that nobody knows', () => {
  expect(versionWarning('gemini-cli', '0.61.0')).toBeUndefined();
  expect(versionWarning('gemini-cli', '0.62.0')).toBe(
    'gemini-cli was proved with version 0.61.0; this is 0.62.0.',
  );
  expect(versionWarning('qwen-code', undefined)).toContain('does not say its version');
  expect(versionWarning('somebody', '1')).toBeUndefined();
  expect(versionWarning(undefined, '1')).toBeUndefined();
});

test('a conversation of Gemini is not loaded in the minute of its birth', () => {
  const minute = 29_000_000 * 60_000;
  expect(waitBeforeLoadMs('gemini-cli', minute + 1000, minute + 20_000)).toBe(40_050);
  expect(waitBeforeLoadMs('gemini-cli', minute + 59_999, minute + 60_000)).toBe(0);
  expect(waitBeforeLoadMs('gemini-cli', minute, minute + 3_600_000)).toBe(0);
  expect(waitBeforeLoadMs('gemini-cli', undefined, minute)).toBe(0);
  expect(waitBeforeLoadMs('qwen-code', minute, minute)).toBe(0);
});
