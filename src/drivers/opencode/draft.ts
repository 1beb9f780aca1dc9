import type { DriverEvent, DriverReport } from '../port.ts';
import type { RunningTurn, SessionState } from './state.ts';

const endedKept = 300;
const pastKept = 1000;

/** The next state and the events of one reduction while it is being made. The state it began with stays as it was. */
export class Draft {
  state: SessionState;
  readonly events: DriverEvent[] = [];

  constructor(state: SessionState) {
    this.state = state;
  }

  /** Changes the next state. */
  set(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
  }

  /** Changes the running turn of the next state; without one, nothing. */
  setTurn(change: Partial<RunningTurn>): void {
    if (this.state.turn) this.set({ turn: { ...this.state.turn, ...change } });
  }

  /** No turn runs any more: `turnId` is over. */
  closeTurn(turnId: string): void {
    const { turn: _, ...rest } = this.state;
    this.state = { ...rest, ended: [...rest.ended, turnId].slice(-endedKept) };
  }

  /** These messages belong to the past. */
  addPast(...messageIds: string[]): void {
    this.set({ past: [...this.state.past, ...messageIds].slice(-pastKept) });
  }

  /** Emits an event at the next position. */
  emit(report: DriverReport): void {
    const position = this.state.position + 1;
    this.set({ position });
    this.events.push({ ...report, position });
  }
}
