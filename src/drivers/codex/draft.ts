import type { DriverEvent, DriverReport, TranscriptItem } from '../port.ts';
import { positionsPerTurn, type RunningTurn, type ThreadState, turnPosition } from './thread-state.ts';

const endedKept = 300;

/** The next state and the events of one reduction while it is being made. The state it began with stays as it was. */
export class Draft {
  state: ThreadState;
  readonly events: DriverEvent[] = [];

  constructor(state: ThreadState) {
    this.state = state;
  }

  /** Changes the next state. */
  set(change: Partial<ThreadState>): void {
    this.state = { ...this.state, ...change };
  }

  /** Changes the running turn of the next state; without one, nothing. */
  setTurn(change: Partial<RunningTurn>): void {
    if (this.state.turn) this.set({ turn: { ...this.state.turn, ...change } });
  }

  /** Remembers that a turn of the thread is over. The newest few hundred are kept. */
  addEnded(turnId: string): void {
    this.set({ ended: [...this.state.ended, turnId].slice(-endedKept) });
  }

  /** Remembers that a turn of a sub-agent is over. The newest few hundred are kept. */
  addEndedAgentTurn(turnId: string): void {
    this.set({ endedAgentTurns: [...this.state.endedAgentTurns, turnId].slice(-endedKept) });
  }

  /** The place within the turn of what comes before the next completion of an item; that one has the place behind it. */
  nextOffset(): number {
    return Math.min((this.state.turn?.completed.size ?? 0) * 2 + 1, positionsPerTurn - 3);
  }

  /** Emits an event of a turn at its place there; without a place, right behind what was emitted last. */
  emit(event: DriverReport, turnId?: string, offset?: number | 'end'): void {
    const start = turnId === undefined || offset === undefined ? undefined : turnPosition(turnId);
    const place = start === undefined ? 0 : start + (offset === 'end' ? positionsPerTurn - 1 : (offset ?? 0));
    const position = Math.max(this.state.position, place);
    this.set({ position });
    this.events.push({ ...event, position });
  }

  /** Emits what a transcript shows of an item, if it shows anything. */
  emitItem(turnId: string, offset: number | undefined, item: TranscriptItem | undefined): void {
    if (item) this.emit({ type: 'item', nativeTurnId: turnId, item }, turnId, offset);
  }

  /** Emits that something made no sense. */
  noise(what: string): void {
    this.emit({ type: 'noise', what });
  }
}
