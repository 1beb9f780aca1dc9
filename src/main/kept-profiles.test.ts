import { expect, test } from 'vitest';
import { KeptProfiles, type ProfileRecords } from './kept-profiles.ts';

/** The two calls of the records that are needed, over one map: what outlives a server. */
function records(): ProfileRecords & { readonly values: Map<string, string> } {
  const values = new Map<string, string>();
  return {
    values,
    readMeta: async (key) => values.get(key),
    writeMeta: async (key, value) => void values.set(key, value),
  };
}

test('the same profile has one name, however its keys are ordered, and another one has another name', async () => {
  const kept = await KeptProfiles.load(records());
  const one = await kept.add('mine', { driver: 'script', command: ['cat'], env: { A: '1', B: '2' } });
  const same = await kept.add('mine', { env: { B: '2', A: '1' }, command: ['cat'], driver: 'script' });
  const other = await kept.add('mine', { driver: 'script', command: ['cat'], env: { A: '2', B: '2' } });
  expect(one).toMatch(/^mine~[0-9a-f]{8}$/);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});

test('profiles are found again by the next server', async () => {
  const shared = records();
  const as = await (await KeptProfiles.load(shared)).add('mine', {
    driver: 'script',
    command: ['cat', '-u'],
  });
  const next = await KeptProfiles.load(shared);
  expect(next.find(as)).toEqual({ name: 'mine', input: { driver: 'script', command: ['cat', '-u'] } });
});

test('the last thousand that were used are kept', async () => {
  const shared = records();
  const kept = await KeptProfiles.load(shared);
  const add = (number: number): Promise<string> =>
    kept.add(`a${number}`, { driver: 'script', command: ['cat'] });
  const oldest = await add(0);
  const second = await add(1);
  for (let number = 2; number < 1000; number++) await add(number);
  expect(await add(0)).toBe(oldest);
  await add(1000);
  expect(kept.find(oldest)).toBeDefined();
  expect(kept.find(second)).toBeUndefined();
  expect((await KeptProfiles.load(shared)).find(oldest)).toBeDefined();
});

test('profiles that are added at once are all kept', async () => {
  const shared = records();
  const kept = await KeptProfiles.load(shared);
  const names = await Promise.all(
    ['a', 'b', 'c'].map((name) => kept.add(name, { driver: 'script', command: ['cat'] })),
  );
  const next = await KeptProfiles.load(shared);
  expect(names.filter((name) => next.find(name) === undefined)).toEqual([]);
});

test('a profile whose write fails is not there', async () => {
  const broken = { ...records(), writeMeta: () => Promise.reject(new Error('the disk is full')) };
  const kept = await KeptProfiles.load(broken);
  await expect(kept.add('mine', { driver: 'script', command: ['cat'] })).rejects.toThrow('the disk is full');
  expect(kept.find('mine')).toBeUndefined();
});

test.each(['{', '{}', '[{"as":"x"},7]'])('what cannot be read is left out: %s', async (text) => {
  const shared = records();
  shared.values.set('ad_hoc_agents', text);
  const kept = await KeptProfiles.load(shared);
  expect(kept.find('x')).toBeUndefined();
});
