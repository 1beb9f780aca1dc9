import { expect, test } from 'vitest';
import { readAgentError } from './agent-error.ts';

test.each([
  ['login', { code: -32000, message: 'Authentication required' }],
  // Gemini CLI 0.61.0.
  [
    'login',
    { code: 500, message: '{"error":{"code":401,"message":"The key is wrong.","status":"UNAUTHENTICATED"}}' },
  ],
  // Qwen Code 0.15.10.
  ['login', { code: -32603, message: 'Internal error', data: { details: '401 Incorrect API key provided' } }],
  ['capacity', { code: -32603, message: 'Internal error', data: { details: '429 You exceeded your quota' } }],
  ['capacity', { code: -32603, message: 'no', data: { errorKind: 'rate_limit' } }],
  ['agent', { code: -32603, message: 'Internal error', data: { details: '401k plans are not supported' } }],
  ['agent', { code: -32603, message: 'Internal error', data: { details: 'read 429 files' } }],
] as const)('is told as %s: %o', (kind, error) => {
  expect(readAgentError(error).kind).toBe(kind);
});
