/** What may never happen, by name. A failing history is shrunk as long as it keeps failing in the same way. */
export type ViolationKind =
  /** The next message of a run was handed to the agent while something of the one before was alive. */
  | 'EARLY'
  /** An execution was closed while something of it was alive. */
  | 'CLOSED_EARLY'
  /** In a fair world that has come to rest, something is still open. */
  | 'STUCK'
  /** A fair world does not come to rest. */
  | 'LIVELOCK'
  /** A result was owed to somebody who never got it, and nobody dropped it for a good reason. */
  | 'LOST'
  /** A result was handled according to the ledger, though no agent has handled it. */
  | 'NOT_HANDLED'
  /** A text was taken up twice, or a result without the mark of a redelivery. */
  | 'TWICE'
  /** A hand-over of a result carries the number of an earlier one. */
  | 'EPOCH'
  /** A text or a result went to somebody else's session. */
  | 'CROSS'
  /** A deficit is not what a recount gives. */
  | 'COUNT'
  /** Something settled or closed changed, or something that is fixed at birth. */
  | 'CHANGED'
  /** A turn ended without one of its owners, or ended twice. */
  | 'TURN'
  /** Work is counted on somebody who never shared the turn in which it was launched. */
  | 'FOREIGN'
  /** A cancelled tree got a continuation. */
  | 'ZOMBIE'
  /** A cancelled root went on, or ended as something else. */
  | 'UNCANCELLED'
  /** A root has used more than it was given, and comes to something else. */
  | 'OVERSPENT'
  /** Something was cancelled that nobody asked to cancel. */
  | 'BYSTANDER'
  /** A step of a workflow began before something that it needs was over. */
  | 'ORDER'
  /** A workflow came to something else than its steps. */
  | 'FLOW'
  /** More turns run than were allowed. */
  | 'CROWDED'
  /** A session was let in before one that had asked earlier. */
  | 'OVERTAKEN'
  /** Two runs work in a directory that each must have alone. */
  | 'SHARED'
  /** A result of what an agent gave out in a turn was handed over without the others. */
  | 'PIECEMEAL'
  /** An orchestrator was given results out of turn, or more often than it may be. */
  | 'ROUNDS'
  /** A message of a run exists twice. */
  | 'SENT_TWICE'
  /** A message of a run was tried again too soon, or though it might not be. */
  | 'ATTEMPT'
  /** Asked for a step alone, an agent was answered with something else than that step at work. */
  | 'JOINED'
  /** A wait was refused that could have ended. */
  | 'REFUSED'
  /** The product threw, or reported a failure of its own. */
  | 'BROKEN';

/** The first thing that went wrong in a history. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly message: string;
}

/** Keeps the first violation of a history; what comes after it may be its consequence. */
export class Violations {
  #first: Violation | undefined;

  get first(): Violation | undefined {
    return this.#first;
  }

  report(kind: ViolationKind, message: string): void {
    this.#first ??= { kind, message };
  }
}
