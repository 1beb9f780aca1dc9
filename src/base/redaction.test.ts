import { describe, expect, it } from 'vitest';
import { Redaction } from './redaction.ts';

function knowing(...values: string[]): Redaction {
  const redaction = new Redaction();
  for (const [index, value] of values.entries()) redaction.add(`S${index}`, value);
  return redaction;
}

describe('a redaction', () => {
  it('takes a value out wherever it appears, and leaves everything else as it is', () => {
    const text = 'key=sk-12345678, again sk-12345678; sk-1234567';
    expect(knowing('sk-12345678').text(text)).toBe('key=[secret S0], again [secret S0]; sk-1234567');
  });

  it('finds a value inside JSON', () => {
    const value = 'a "quoted"\\ value';
    const line = JSON.stringify({ message: `it is ${value}!` });
    expect(knowing(value).text(line)).toBe('{"message":"it is [secret S0]!"}');
  });

  it('takes the longer of two values, one of which is in the other', () => {
    expect(knowing('abcdefgh', 'abcdefghij').text('abcdefghij abcdefgh')).toBe('[secret S1] [secret S0]');
  });

  it('finds the lines of a value with many', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nabc\n-----END KEY-----';
    expect(knowing(key).text('it said MIIEvQIBADANBgkqhkiG9w0B')).toBe('it said [secret S0]');
  });

  it('leaves what is too short alone, and takes a $ for a $', () => {
    expect(knowing('short').text('short')).toBe('short');
    const redaction = new Redaction();
    redaction.add('$&', 'sk-12345678');
    expect(redaction.text('sk-12345678')).toBe('[secret $&]');
  });

  it('forgets the oldest of very many', () => {
    const redaction = new Redaction();
    for (let i = 0; i <= 1000; i++) redaction.add('S', `value number ${i}!`);
    expect(redaction.text('value number 0! value number 1! value number 1000!')).toBe(
      'value number 0! [secret S] [secret S]',
    );
  });
});
