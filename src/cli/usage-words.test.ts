import { describe, expect, it } from 'vitest';
import { spentWords, usageWords } from '../words/usage-words.ts';
import { tokensArgument, usdArgument } from './amount-arguments.ts';

describe('usage in words', () => {
  it.each([
    [{ inputTokens: 800, outputTokens: 99 }, '899 tokens'],
    [{ inputTokens: 12_000, outputTokens: 345 }, '12.3k tokens'],
    [{ inputTokens: 999_600 }, '1M tokens'],
    [{ inputTokens: 1_530_000, usd: 0.414 }, '1.5M tokens, $0.41'],
    [{ usd: 0.0004 }, '$0.0004'],
    [{}, ''],
  ])('%j is %s', (used, words) => {
    expect(usageWords(used)).toBe(words);
  });

  it('says what was allowed', () => {
    expect(spentWords({ usd: 1.5 }, { usd: 5 })).toBe('used $1.50 of $5');
    expect(spentWords(undefined, { tokens: 2_000_000, usd: 5 })).toBe('used nothing of 2M tokens, $5');
    expect(spentWords({ inputTokens: 5 }, undefined)).toBe('used 5 tokens');
    expect(spentWords(undefined, undefined)).toBe('');
  });
});

describe('budgets on the command line', () => {
  it.each([
    ['5', 5],
    ['$0.50', 0.5],
  ])('%s is an amount', (text, usd) => {
    expect(usdArgument(text)).toBe(usd);
  });

  it.each([
    ['200000', 200_000],
    ['200k', 200_000],
    ['1.5M', 1_500_000],
  ])('%s is a number of tokens', (text, tokens) => {
    expect(tokensArgument(text)).toBe(tokens);
  });

  it.each(['', '0', '-1', '5 EUR', '1e3', 'k'])('%j is neither', (text) => {
    expect(() => usdArgument(text)).toThrow('US dollars');
    expect(() => tokensArgument(text)).toThrow('tokens');
  });
});
