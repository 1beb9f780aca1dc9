const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Milliseconds for people, in at most two units: `0.4s`, `12s`, `3m05s`, `2h07m`, `4d03h`. Negative counts as zero. */
export function formatDuration(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < 9_950) return `${(rest / secondMs).toFixed(1)}s`;
  if (rest < minuteMs - 500) return `${Math.round(rest / secondMs)}s`;
  if (rest < hourMs) return pair(Math.round(rest / secondMs), 60, 'm', 's');
  if (rest < dayMs) return pair(Math.floor(rest / minuteMs), 60, 'h', 'm');
  return pair(Math.floor(rest / hourMs), 24, 'd', 'h');
}

function pair(total: number, size: number, large: string, small: string): string {
  return `${Math.floor(total / size)}${large}${String(total % size).padStart(2, '0')}${small}`;
}
