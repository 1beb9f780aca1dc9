import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instantsBetween } from '../../src/schedules/rule/instants.ts';
import { parseRule } from '../../src/schedules/rule/rule.ts';
import { meaningOf } from './oracle.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function field(lowest: number, highest: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: lowest, max: highest });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: 6 });
  const steps = fc.oneof(
    step.map((each) => `*/${each}`),
    fc.tuple(value, fc.constantFrom(1)).map(([from, each]) => `${from}/${each}`),
  );
  const item = fc.oneof(value.map(String), range, steps);
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','));
  return fc.oneof({ weight: 1, arbitrary: fc.constant('*') }, { weight: 2, arbitrary: list });
}

test('where no clock is changed, an expression comes when the fields of the oracle say so, hour by hour', () => {
  const expression = fc
    .tuple(field(0, 23), field(1, 31), field(1, 12), field(0, 7))
    .map((fields) => `0 ${fields.join(' ')}`);
  fc.assert(
    fc.property(expression, fc.integer({ min: 0, max: 30_000 }), (cron, day) => {
      const parsed = parseRule({ cron, timezone: 'UTC' });
      fc.pre('rule' in parsed);
      const [from, hours] = [day * dayMs, 70 * 24];
      const expected = Array.from({ length: hours }, (_, hour) => from + hour * hourMs).filter(
        meaningOf(cron),
      );
      expect(instantsBetween(parsed.rule, from - 1, from + hours * hourMs - 1, hours)).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});
