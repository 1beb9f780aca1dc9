import type { Clock } from '../../base/clock.ts';
import type { Driver } from '../port.ts';
import { provedCapabilities } from './capabilities.ts';
import { openConversation } from './open.ts';
import { probe } from './probe.ts';

/** What the driver of Claude Code needs. */
export interface ClaudeDriverOptions {
  readonly clock: Clock;
  /** How long the program may take from its launch to its first answer. Milliseconds, default 60 seconds. */
  readonly openingMs?: number;
  /** Aborted when the server stops: openings under way are given up, since nothing was told to those agents yet. */
  readonly stopping?: AbortSignal;
}

/** The driver for Claude Code, in its stream-json mode: one process for each conversation, which outlives this one. */
export function claudeDriver(options: ClaudeDriverOptions): Driver {
  const { clock, openingMs = 60_000, stopping = new AbortController().signal } = options;
  return {
    kind: 'claude',
    capabilities: provedCapabilities,
    honours: ['model', 'effort', 'home', 'sandbox', 'onQuestion', 'questionTimeoutMs', 'secrets', 'version'],
    probe,
    open: (request) => openConversation(request, { clock, openingMs, stopping }),
  };
}
