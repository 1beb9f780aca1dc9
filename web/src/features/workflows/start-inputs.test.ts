import { expect, test } from 'vitest';
import { defaultWords, sentInputs } from './start-inputs.ts';

const declared = {
  day: { type: 'string', required: true },
  count: { type: 'number', required: false },
  loud: { type: 'boolean', required: false },
  mode: { type: 'string', required: true, default: 'full' },
};

test('values are sent by their types, and what is empty is left to its default', () => {
  const { inputs, problems } = sentInputs(declared, { day: 'Monday', count: '7', loud: 'false', mode: '' });
  expect(inputs).toEqual({ day: 'Monday', count: 7, loud: false });
  expect(problems.size).toBe(0);
});

test('what is needed, and what is no number, is told by its name', () => {
  const { inputs, problems } = sentInputs(declared, { count: 'x' });
  expect([...problems]).toEqual([
    ['day', 'is needed'],
    ['count', 'is no number'],
  ]);
  expect(inputs).toEqual({});
});

test('the default is told as it is written', () => {
  expect(
    [{ ...declared.mode }, { ...declared.day }, { type: 'number', required: false, default: 3 }].map(
      defaultWords,
    ),
  ).toEqual(['full', '', '3']);
});
