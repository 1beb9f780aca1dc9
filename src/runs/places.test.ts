import { expect, it } from 'vitest';
import { Places } from './places.ts';

it('lets so many in at once, and the next in the order in which they came', async () => {
  const places = new Places(2);
  const { signal } = new AbortController();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const enter = (name: string): Promise<void> =>
    places.with(signal, () => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    });
  const all = ['a', 'b', 'c', 'd'].map(enter);
  expect(begun).toEqual(['a', 'b']);
  ends.get('b')?.();
  await all[1];
  expect(begun).toEqual(['a', 'b', 'c']);
  ends.get('a')?.();
  await all[0];
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  for (const name of ['c', 'd']) ends.get(name)?.();
  await Promise.all(all);
});

it('a place is given up by what fails, and nothing begins when it is too late', async () => {
  const places = new Places(1);
  const stopping = new AbortController();
  await expect(places.with(stopping.signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  let end = (): void => {};
  const first = places.with(stopping.signal, () => new Promise((resolve) => (end = resolve)));
  const second = places.with(stopping.signal, () => Promise.reject(new Error('it began')));
  stopping.abort();
  end();
  await first;
  await expect(second).rejects.toMatchObject({ code: 'STOPPING' });
});
