import type { DriverReport } from '../port.ts';
import type { ClaudeState, KnownTask, KnownText, Question, RunningTurn } from './state.ts';

const callsKept = 500;
const endedKept = 50;
const settledTextsKept = 100;

/** The next state and the reports of one line while they are being made. The state it began with stays as it was. */
export class Draft {
  state: ClaudeState;
  readonly reports: DriverReport[] = [];
  /** Where the line begins: it names a turn that begins with it. */
  readonly at: number;

  constructor(state: ClaudeState, at: number) {
    this.state = state;
    this.at = at;
  }

  report(report: DriverReport): void {
    this.reports.push(report);
  }

  noise(what: string): void {
    this.report({ type: 'noise', what });
  }

  set(change: Partial<ClaudeState>): void {
    this.state = { ...this.state, ...change };
  }

  /** Changes the running turn; without one, nothing. */
  setTurn(change: Partial<RunningTurn>): void {
    if (this.state.turn) this.set({ turn: { ...this.state.turn, ...change } });
  }

  /** Changes what is known of a text; those whose fate is settled are forgotten in the end. */
  setText(uuid: string, text: KnownText): void {
    const texts = new Map(this.state.texts).set(uuid, text);
    const settled = [...texts].filter(([, { state }]) => state === 'taken' || state === 'withdrawn');
    for (const [old] of settled.slice(0, Math.max(0, settled.length - settledTextsKept))) texts.delete(old);
    this.set({ texts });
  }

  setTask(task: KnownTask): void {
    this.set({ tasks: new Map(this.state.tasks).set(task.taskId, task) });
  }

  dropTask(taskId: string): void {
    const tasks = new Map(this.state.tasks);
    tasks.delete(taskId);
    this.set({ tasks });
  }

  addCall(toolUseId: string, turnId: string, by: 'agent' | 'subAgent'): void {
    const calls = new Map(this.state.calls).set(toolUseId, turnId);
    for (const old of calls.keys()) {
      if (calls.size <= callsKept) break;
      calls.delete(old);
    }
    const known = by === 'subAgent' ? [...this.state.agentCalls, toolUseId] : [...this.state.agentCalls];
    this.set({ calls, agentCalls: new Set(known.filter((id) => calls.has(id))) });
  }

  addQuestion(requestId: string, question: Question): void {
    this.set({ questions: new Map(this.state.questions).set(requestId, question) });
  }

  dropQuestion(requestId: string): void {
    const questions = new Map(this.state.questions);
    questions.delete(requestId);
    this.set({ questions });
  }

  addEnded(turnId: string): void {
    this.set({ ended: [...this.state.ended, turnId].slice(-endedKept) });
  }
}
