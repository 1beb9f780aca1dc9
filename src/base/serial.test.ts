import { expect, test } from 'vitest';
import { Serial } from './serial.ts';

test('tasks run one after the other, and one that fails only fails its caller', async () => {
  const serial = new Serial();
  const seen: string[] = [];
  const task = (name: string) => async (): Promise<string> => {
    seen.push(`${name} begins`);
    await Promise.resolve();
    seen.push(`${name} ends`);
    if (name === 'b') throw new Error('broken');
    return name;
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => serial.run(task(name))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});
