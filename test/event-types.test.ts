import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventTypes } from '../src/contract/events.ts';

/** The layers whose rules tell of what was committed. */
const telling = ['src/ledger', 'src/schedules'];
const told = /(?:\.event\(|\btype: )'([a-z]+\.[a-zA-Z]+)'/g;

it('every type of event that a rule tells is on the list for clients', () => {
  const files = telling.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const rules = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const types = rules.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(told)].map(([, type]) => type),
  );
  expect(new Set(types).size).toBeGreaterThan(10);
  expect([...new Set(types)].filter((type) => !eventTypes.some((known) => known === type))).toEqual([]);
});
