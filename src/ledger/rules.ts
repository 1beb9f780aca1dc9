/**
 * The rules without which the protocol breaks, named as in docs/model.md. Always on; a test may switch one off to show
 * that the simulator notices. Nothing else may write here.
 */
export const rules = {
  /** R1: text that has left us comes back only on negative proof. */
  withdraw: true,
  /** R2: text of ours that the agent takes up by itself starts a turn owned by what it carries. */
  adoptByText: true,
  /** R3: a tool call is resolved only after the driver's stream was read up to it. */
  barrier: true,
  /** R4: a launch in a shared turn is held by every other unsettled owner. */
  holders: true,
  /** R5: a background task settles owing a notice. */
  taskNotice: true,
  /** R6: the end of a turn carries the set of tasks that lives as of that event. */
  taskSnapshot: true,
  /** R7: a sent text is looked for in the agent's record and in its queue before it is sent again. */
  queueEvidence: true,
  /** R8: an end is accepted only for a turn whose own start was seen. */
  startFence: true,
  /** R9: a send that the agent provably never got fails, and goes back. */
  sendProof: true,
  /** R10: a notice whose continuation failed is owed again. */
  handedBack: true,
  /** R11: cancel is a latch on the tree, waives its notices, and never interrupts a turn it shares. */
  cancelLatch: true,
  cancelWaives: true,
  stepDown: true,
  /** R12: a call of an ended turn is refused. */
  refuseEnded: true,
  /** R13: a run advances by compare-and-set. */
  advanceOnce: true,
  /** R15: a failed message is sent again when its back-off is over: by compare-and-set too. */
  backOffOnce: true,
  /** R14: what has used more than it was given is ended, and comes to that. */
  budgetStop: true,
  /** R17: no turn begins by us beyond the limits, and whoever asked first is let in first. */
  turnLimits: true,
  slotLine: true,
  /** R18: whatever ends a turn, or leaves the line, calls the next. */
  slotCall: true,
  /** R19: of the runs that want one directory alone, one works; when it has ended, the next is woken. */
  workspaceLock: true,
  workspaceCall: true,
  /** R20: the results of what a controller gave out are handed over together, when all of it is closed. */
  batchWhole: true,
  /** R21: an attempt of a step begins by compare-and-set. */
  stepOnce: true,
  /** R22: a step begins when everything that it needs has ended. */
  stepNeeds: true,
  /** R23: what failed reaches through what was skipped because of it. */
  stepMissed: true,
  /** R24: an attempt of a step, and a workflow, settle when nothing below them is open. */
  stepWhole: true,
};

/** The name of a rule, as tests switch it off. */
export type RuleName = keyof typeof rules;
