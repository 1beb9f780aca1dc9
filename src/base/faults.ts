/**
 * Named points at which a process may die. In production nothing listens and the call costs one comparison;
 * the simulator and the kill tests install a listener that crashes at the point they chose.
 */
export type FaultPoint =
  | 'send.before'
  | 'send.written'
  | 'steer.before'
  | 'steer.written'
  | 'turn.ended'
  | 'commit.before'
  | 'commit.after'
  | 'wakeup.before'
  | 'call.received'
  | 'call.registered'
  | 'advance.before'
  | 'check.ran'
  | 'check.found'
  | 'check.settled'
  | 'step.before'
  | 'step.begun'
  | 'rows.before'
  | 'rows.ran'
  | 'script.before'
  | 'script.ended'
  | 'step.closed'
  | 'step.decided'
  | 'graph.ended'
  | 'graph.settled'
  | 'recover.step'
  | 'notify.sent'
  | 'agent.ending'
  | 'agent.ended';

let listener: ((point: FaultPoint) => void) | undefined;

/** Announces that execution reached a fault point. */
export function reach(point: FaultPoint): void {
  if (listener) listener(point);
}

/** Installs the one listener, or removes it. For tests only. */
export function onFaultPoint(next: ((point: FaultPoint) => void) | undefined): void {
  listener = next;
}
