import { InvalidArgumentError } from 'commander';

/** Reads an amount of US dollars for commander: `5`, `0.50`, `$2`. */
export function usdArgument(text: string): number {
  const usd = Number(text.replace(/^\$/, ''));
  if (/^\$?\d+(\.\d+)?$/.test(text) && usd > 0) return usd;
  throw new InvalidArgumentError('Write an amount of US dollars, such as 5 or 0.50.');
}

/** Reads a count of tokens for commander: `200000`, `200k`, `1.5M`. */
export function tokensArgument(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)([kM]?)$/.exec(text) ?? [];
  const tokens = Math.round(Number(digits) * (unit === 'M' ? 1_000_000 : unit === 'k' ? 1000 : 1));
  if (digits !== '' && tokens > 0) return tokens;
  throw new InvalidArgumentError('Write a number of tokens, such as 200000, 200k or 1.5M.');
}
