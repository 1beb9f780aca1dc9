const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Bytes for people, in powers of 1,000: `12 KB`, `3.4 GB`. */
export function bytesWords(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit++;
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}
