import type { AgentError, TypedText } from '../port.ts';
import { toAgentError } from './agent-error.ts';
import type { Draft } from './draft.ts';
import { settleBackground } from './reduce-background.ts';
import { type RunningTurn, type ThreadState, turnPosition } from './thread-state.ts';
import type { CodexError, Signal } from './wire.ts';

/** What a change cannot see in the signal that causes it. */
export interface Context {
  /** The signal is read from the record, so that what is known already is no surprise. */
  readonly isReplay?: boolean;
  /** Open commands that are known to be dead at the end of their turn; all others are taken to live on. */
  readonly deadCommands?: ReadonlySet<string>;
}

/**
 * Whether a turn that was not heard of can be the thread's next one. What outlives its turn may name one that ended so
 * long ago that nobody remembers it; that turn does not begin again.
 */
export function isNewer(state: ThreadState, turnId: string): boolean {
  const place = turnPosition(turnId);
  const newest = Math.max(
    turnPosition(state.turn?.id ?? '') ?? 0,
    ...state.ended.map((id) => turnPosition(id) ?? 0),
  );
  return place === undefined || place > newest;
}

/** Makes a turn the running one. */
export function begin(draft: Draft, turnId: string): void {
  const previous = draft.state.turn;
  if (previous) {
    // A thread runs one turn at a time, so the other one is over, although nobody could say how.
    const error = {
      message: 'The agent began another turn; how this one ended is not known.',
      codexErrorInfo: 'other',
    };
    const { threadId } = draft.state;
    endTurn(draft, { type: 'turnCompleted', threadId, turnId: previous.id, status: 'failed', error }, {});
  }
  draft.set({ turn: { id: turnId, isAnnounced: false, answer: '', completed: new Set() } });
}

/** What is known of the first item of a turn: the id under which a user's text came, and the text if it is a stranger's. */
interface FirstItem {
  readonly clientId?: string | undefined;
  readonly typed?: TypedText | undefined;
}

/** Emits the start of the running turn, once it is clear whose text began it. */
export function announce(draft: Draft, { clientId, typed }: FirstItem = {}): void {
  const { turn, starting, deliveries } = draft.state;
  if (!turn || turn.isAnnounced) return;
  const ours = clientId !== undefined && deliveries.has(clientId) ? clientId : undefined;
  // Codex answered our text with this turn. What a person typed may still be in it first.
  const answered = starting?.turnId === turn.id && !typed ? starting.deliveryId : undefined;
  const deliveryId = ours ?? answered;
  draft.setTurn({ isAnnounced: true, ...(deliveryId === undefined ? {} : { deliveryId }) });
  const why = { ...(deliveryId === undefined ? {} : { deliveryId }), ...(typed ? { typed } : {}) };
  draft.emit({ type: 'turnStarted', nativeTurnId: turn.id, ...why }, turn.id, 0);
  if (deliveryId !== undefined && starting?.deliveryId === deliveryId) draft.set({ starting: undefined });
}

/** Ends a turn: once, and only one that runs or is newer than all that did. */
export function endTurn(
  draft: Draft,
  signal: Extract<Signal, { type: 'turnCompleted' }>,
  context: Context,
): void {
  const { turnId } = signal;
  if (draft.state.ended.includes(turnId)) {
    if (!context.isReplay) draft.noise(`turn ${turnId} ended a second time`);
    return;
  }
  if (draft.state.turn?.id !== turnId) {
    if (!isNewer(draft.state, turnId)) {
      draft.noise(`turn ${turnId}, which is older than the newest one, ended`);
      return draft.addEnded(turnId);
    }
    begin(draft, turnId);
  }
  announce(draft);
  const turn = draft.state.turn as RunningTurn;
  const error = signal.error ?? turn.error;
  const tasks = settleBackground(draft, context.deadCommands);
  draft.set({ turn: undefined });
  draft.addEnded(turnId);
  draft.emit(
    {
      type: 'turnEnded',
      nativeTurnId: turnId,
      status: statusOf(signal.status),
      answer: turn.answer,
      ...(signal.status === 'completed' || signal.status === 'interrupted'
        ? {}
        : { error: errorOf(signal, error, draft) }),
      ...(turn.usage === undefined ? {} : { usage: turn.usage }),
      tasks,
    },
    turnId,
    'end',
  );
  if (draft.state.starting?.turnId === turnId) draft.set({ starting: undefined });
}

// Codex lists a turn that died with its process as `interrupted`. Nobody interrupted it, so nobody may be told so.
function statusOf(
  status: 'completed' | 'interrupted' | 'failed' | 'died',
): 'succeeded' | 'failed' | 'interrupted' {
  if (status === 'completed') return 'succeeded';
  return status === 'interrupted' ? 'interrupted' : 'failed';
}

function errorOf(
  signal: Extract<Signal, { type: 'turnCompleted' }>,
  error: CodexError | undefined,
  draft: Draft,
): AgentError {
  const unsaid =
    signal.status === 'died'
      ? 'The agent process died during the turn.'
      : 'The turn failed without a reason.';
  return toAgentError({ codexErrorInfo: 'other', ...(error ?? { message: unsaid }) }, draft.state.resetsAt);
}
