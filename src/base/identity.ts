import { AsyncLocalStorage } from 'node:async_hooks';
import type { ExecutionId, SessionId, TurnId } from './ids.ts';

/** Whose work this is. One frozen record, copied to everything a call starts; it carries no cancellation. */
export interface Identity {
  readonly rootId: ExecutionId;
  readonly executionId: ExecutionId;
  readonly sessionId?: SessionId;
  readonly turnId?: TurnId;
  /** Groups a display. Never a parent. */
  readonly correlationId?: string;
}

const storage = new AsyncLocalStorage<Identity>();

/** The identity of the running code, or undefined. */
export function currentIdentity(): Identity | undefined {
  return storage.getStore();
}

/** Runs `work` as this identity, asynchronous continuations included. */
export function withIdentity<T>(identity: Identity, work: () => T): T {
  return storage.run(Object.freeze({ ...identity }), work);
}
