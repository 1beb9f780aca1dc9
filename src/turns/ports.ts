import type { Clock } from '../base/clock.ts';
import type { Ids, SessionId } from '../base/ids.ts';
import type { AgentProfile, Driver, PrepareLaunch, ToolPlace, TranscriptItem } from '../drivers/port.ts';
import type { TurnLimits } from '../ledger/line.ts';
import type { LedgerStore } from '../ledger/store.ts';

/** What the turns of sessions need from outside. */
export interface TurnsContext {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Name of this runner, written on the turns it runs. */
  readonly node: string;
  /** How many turns may run at once; absent: as many as there are sessions. */
  readonly limits?: TurnLimits | undefined;
  /** The profile and driver of an agent, or undefined when no such agent is configured. */
  readonly agent: (name: string) => { readonly profile: AgentProfile; readonly driver: Driver } | undefined;
  /** Where an agent's tools are and the bearer of its session; undefined where it gets none. */
  readonly tools: (sessionId: SessionId) => ToolPlace | undefined;
  /** The session's own directory, made when first needed. */
  readonly directory: (sessionId: SessionId) => string;
  readonly transcript: TranscriptSink;
  /** What comes before each launch of this agent; undefined where nothing does. Its secrets are known, and redacted, then. */
  readonly prepare: (agent: {
    readonly profile: AgentProfile;
    readonly driver: Driver;
  }) => Promise<PrepareLaunch | undefined>;
  /** A text without the values of secrets: nothing that an agent says is kept or told without it. */
  readonly redact: (text: string) => string;
  /** Whether a person looks at the agent's own screen of this session now. */
  readonly isWatched: (sessionId: SessionId) => boolean;
  /** Whether the server is stopping: what fails now says nothing about an agent. */
  readonly isStopping: () => boolean;
  /** Something an operator should see; never throws. */
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** Keeps what was said, for people. It decides nothing. */
export interface TranscriptSink {
  /** `position`: where in the agent's stream it was, so that a replayed item is the same item; 0 where there is none. */
  append(sessionId: SessionId, position: number, item: TranscriptItem): void;
}
