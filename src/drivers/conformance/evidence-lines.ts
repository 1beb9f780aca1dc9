import type { DriverEvent } from '../port.ts';

const longest = 160;

/** An event as one short line. */
export function eventLine(event: DriverEvent): string {
  const { type, position, ...rest } = event;
  return cut(`@${position} ${type} ${JSON.stringify(rest)}`);
}

/** What a call answered, as one short line. */
export function resultLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  // A conversation is more than a line.
  const shown = JSON.stringify(value, (key, inner: unknown) => (key === 'conversation' ? '(open)' : inner));
  return cut(shown);
}

function cut(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}
