import { describe, expect, it } from 'vitest';
import { mistakesIn, problemsOfSchema } from './schema.ts';

const invoice = {
  type: 'object',
  required: ['total', 'items'],
  additionalProperties: false,
  properties: {
    total: { type: 'number', minimum: 0 },
    currency: { enum: ['EUR', 'USD'] },
    mail: { type: 'string', format: 'email' },
    items: { type: 'array', minItems: 1, items: { $ref: '#/$defs/item' } },
  },
  $defs: { item: { type: 'object', required: ['price'], properties: { price: { type: 'number' } } } },
} as const;

describe('a value and a JSON Schema', () => {
  it('fit, and nothing is said', () => {
    expect(
      mistakesIn({ total: 3, currency: 'EUR', mail: 'a@b.org', items: [{ price: 3 }] }, invoice),
    ).toEqual([]);
  });

  it('do not fit, and every mistake says where it is, what was expected, and what is there', () => {
    const value = { total: -1, currency: 'GBP', mail: 'nobody', items: [{ price: '3' }, {}], 'other key': 1 };
    expect(mistakesIn(value, invoice)).toEqual([
      '$: "other key" may not be there',
      '$.total: must be >= 0, and is -1',
      '$.currency: must be one of ["EUR","USD"], and is "GBP"',
      '$.mail: must match format "email", and is "nobody"',
      '$.items[0].price: must be number, and is "3"',
      '$.items[1]: "price" is missing',
    ]);
  });

  it('tell at most so many mistakes', () => {
    const items = Array.from({ length: 500 }, () => ({ price: 'x'.repeat(10_000) }));
    const mistakes = mistakesIn({ total: 1, items }, invoice);
    expect(mistakes).toHaveLength(21);
    expect(mistakes.at(-1)).toBe('… and 480 more.');
    expect(mistakes.join('').length).toBeLessThan(5_000);
  });

  it('are given up when a pattern would need for ever, and the server goes on', () => {
    const mistakes = mistakesIn(`${'a'.repeat(60)}!`, { type: 'string', pattern: '^(a+)+$' }, 300);
    expect(mistakes).toEqual([expect.stringContaining('was given up')]);
  });
});

describe('a JSON Schema', () => {
  it.each([true, {}, invoice, { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'string' }])(
    'that is one has no problem: %j',
    (schema) => expect(problemsOfSchema(schema)).toEqual([]),
  );

  it('with an "$id" can be used again, and another one with the same too', () => {
    const named = { $id: 'https://schemas.invalid/a', type: 'number' };
    expect([mistakesIn(1, named), mistakesIn(1, named)]).toEqual([[], []]);
    expect(mistakesIn(1, { ...named, type: 'string' })).toEqual(['$: must be string, and is 1']);
  });

  it.each(['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema'])(
    'with the "$id" of a dialect spoils no other: %s',
    ($id) => {
      const $schema = $id.includes('draft-07') ? $id : undefined;
      const dialect = $schema === undefined ? {} : { $schema };
      expect(problemsOfSchema({ ...dialect, $id, type: 'object' })).toHaveLength(1);
      const within = { ...dialect, $defs: { a: { $id, type: 'object' } }, type: 'object' };
      expect(problemsOfSchema(within)).toHaveLength(1);
      expect(problemsOfSchema({ ...dialect, type: 'object', required: ['points'] })).toEqual([]);
      expect(mistakesIn({}, { ...dialect, required: ['a'] })).toEqual(['$: "a" is missing']);
    },
  );

  it('of draft-07 is read as one', () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'number' }] };
    expect(problemsOfSchema(schema)).toEqual([]);
    expect(mistakesIn(['x'], schema)).toEqual(['$[0]: must be number, and is "x"']);
  });

  it.each([
    [{ type: 'strng' }, 'must be equal to one of the allowed values'],
    [{ type: 'string', pattern: '(' }, 'Invalid regular expression'],
    [{ $ref: 'https://schemas.invalid/x.json' }, 'nothing is fetched from elsewhere'],
    [{ $ref: '#/$defs/none' }, 'points at nothing in this schema'],
    [{ format: 'e-mail' }, 'unknown format "e-mail"'],
    [{ $schema: 'http://json-schema.org/draft-04/schema#' }, 'known are 2020-12'],
    [5, 'schema must be object or boolean'],
    [{ description: 'x'.repeat(300_000) }, 'at most 262144 characters'],
    [{ anyOf: Array.from({ length: 2_000 }, () => ({})) }, 'at most 2000 parts'],
  ])('that is wrong says why: %j', (schema, why) => {
    expect(problemsOfSchema(schema)).toEqual([expect.stringContaining(why)]);
    expect(mistakesIn({}, schema)).toEqual([expect.stringContaining('the schema is wrong')]);
  });
});
