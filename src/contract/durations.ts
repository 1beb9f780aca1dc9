import { z } from 'zod';

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const pattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)/;

/** The longest duration that is taken anywhere: a year, in milliseconds. Longer ones are typing errors. */
const longestDurationMs = 366 * 86_400_000;

/**
 * Reads `30s`, `90m`, `1h30m`, `250ms` or a number of milliseconds. Answers whole milliseconds, or undefined when the
 * value is no duration, is negative, is longer than a year or has a part of a millisecond. A text without a unit is no duration: `30` could be
 * anything.
 */
export function parseDurationMs(value: string | number): number | undefined {
  const ms = typeof value === 'number' ? value : readUnits(value.trim());
  if (ms === undefined || !Number.isFinite(ms) || ms < 0 || ms > longestDurationMs) return undefined;
  // 1.1m is 66000.00000000001 where numbers are binary; what is further away is no whole number.
  return Math.abs(ms - Math.round(ms)) < 1e-6 ? Math.round(ms) : undefined;
}

function readUnits(text: string): number | undefined {
  let rest = text;
  let total = 0;
  while (rest !== '') {
    const match = pattern.exec(rest);
    const unit = unitMs[match?.[2] ?? ''];
    if (!match || unit === undefined) return undefined;
    total += Number(match[1]) * unit;
    rest = rest.slice(match[0].length);
  }
  return text === '' ? undefined : total;
}

/** A duration on the wire or in a file: text or milliseconds in, whole milliseconds out. */
export const durationMs = z
  .union([z.string(), z.number()])
  .transform((value, context) => {
    const ms = parseDurationMs(value);
    if (ms !== undefined) return ms;
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(value)} is no duration; write for example "30s", "90m" or "4h", or milliseconds as a whole number`,
    });
    return z.NEVER;
  })
  .meta({ description: 'A duration: "30s", "90m", "4h", "1h30m", or a number of milliseconds.' });
