import type { Answer, Principal } from '../api/ports.ts';
import type { Actor } from '../ledger/execution.ts';
import type { Decided } from '../ledger/store.ts';

/** Who is named as the one who asked. */
export function actorOf(caller: Principal): Actor {
  if (caller.kind === 'api') return { kind: 'person', name: caller.name };
  return { kind: 'agent', name: caller.kind === 'session' ? caller.sessionId : caller.executionId };
}

/** Drops the value of a command that has nothing to tell. */
export function nothing(decided: Decided<unknown>): Answer<void> {
  return decided.ok ? { ok: true, value: undefined } : decided;
}
