/*
 * What is known of single ACP agents beyond what they declare: the version that was proved against the real program, and
 * where one of them would lose something. Nothing here is assumed of an agent that does not name itself.
 */

interface KnownAgent {
  readonly provedVersion: string;
  /** A conversation is kept in a file named after the minute (UTC) of its birth. */
  readonly namesFilesByMinute?: boolean;
}

const known: Readonly<Record<string, KnownAgent>> = {
  'gemini-cli': { provedVersion: '0.61.0', namesFilesByMinute: true },
  'qwen-code': { provedVersion: '0.15.10' },
};

/** A sentence for a person when this agent was proved in another version than it has; `name` and `version` as it says. */
export function versionWarning(name: string | undefined, version: string | undefined): string | undefined {
  const proved = known[name ?? '']?.provedVersion;
  if (proved === undefined || proved === version) return undefined;
  return `${name} was proved with version ${proved}; this is ${version ?? 'one that does not say its version'}.`;
}

const minuteMs = 60_000;

/**
 * How long to wait before a conversation of that birth (UTC milliseconds) may be loaded. Gemini CLI begins a new record
 * when it loads; within the minute of the conversation's birth that is the same file, and the conversation is overwritten
 * ("Invalid session identifier", seen with 0.61.0).
 */
export function waitBeforeLoadMs(name: string | undefined, bornAt: number | undefined, now: number): number {
  if (bornAt === undefined || !known[name ?? '']?.namesFilesByMinute) return 0;
  const isSameMinute = Math.floor(bornAt / minuteMs) === Math.floor(now / minuteMs);
  return isSameMinute ? minuteMs - (now % minuteMs) + 50 : 0;
}
