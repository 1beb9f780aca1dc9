import { expect, test } from 'vitest';
import type { AgentView } from '../../../../src/contract/session.ts';
import { bySignIn, factsOf, standingOf } from './agent-words.ts';

const agent = (name: string, check?: AgentView['check']): AgentView => ({
  name,
  driver: 'acp',
  command: ['run', name],
  ...(check ? { check } : {}),
});
const found = { found: true, warnings: [] };

test('what needs somebody is first, what is not installed last', () => {
  const all = [
    agent('absent', { found: false, warnings: ['no program'] }),
    agent('ready', { ...found, signedIn: 'yes' }),
    agent('expired', { ...found, signedIn: 'no', signIn: 'acp login' }),
    agent('warned', { found: true, warnings: ['an older version'] }),
  ];
  expect(bySignIn(all).map(({ name }) => name)).toEqual(['expired', 'warned', 'ready', 'absent']);
  expect(all.map((each) => standingOf(each).tone)).toEqual(['quiet', 'good', 'bad', 'wait']);
});

test('a profile says only what it says', () => {
  expect(factsOf({ ...agent('x'), model: 'large', secrets: [] })).toEqual([
    { name: 'Command', value: 'run x' },
    { name: 'Model', value: 'large' },
  ]);
});
