import type { DriverEvent } from '../port.ts';
import type { Question } from './wire.ts';

/** What the output asks of its owner. Nothing of it changes what the output means. */
export interface TrackerOwner {
  readonly emit: (event: DriverEvent) => void;
  /** A run ended here: pi is to be asked whether it is idle (`idle:POSITION`). */
  readonly onMayBeIdle: (position: number) => void;
  /** It is idle and still has texts queued, which the next turn would take up: they are to be dropped (`drop:POSITION`). */
  readonly onLeftover: (position: number) => void;
  /** It is idle, and is to take them up by itself in a moment: it is to be asked again then (`idle:POSITION`). */
  readonly onStalled: (position: number) => void;
  /** They cannot be dropped while the process lives. */
  readonly onStuck: (why: string) => void;
  /** A prompt was accepted; it is to be asked whether a run began (`check:ID`). */
  readonly onAccepted: (id: string) => void;
  readonly onQuestion: (question: Question, turnId: string | undefined) => void;
  readonly onTurnEnded: (turnId: string) => void;
  /** A command was answered; for whoever waits for it. */
  readonly onResponse: (id: string) => void;
}
