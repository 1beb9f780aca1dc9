import type { ExecutionId } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import { settle } from '../../src/ledger/settle.ts';
import type { CommandEnd, CommandRunner } from '../../src/runs/ports.ts';
import type { FlowStep } from './flows.ts';
import type { Action } from './scheduler.ts';
import { maybe, progress } from './scheduler.ts';
import type { Server } from './server.ts';
import type { Work } from './truth.ts';
import type { World } from './world.ts';

/** A process that runs one execution: a step or workflow that was launched, or the check of a message. */
interface Program {
  readonly executionId: ExecutionId;
  /** What it was called with, if it is a command. */
  readonly command: string | undefined;
  readonly work: Work | undefined;
  state: 'running' | 'ended' | 'told';
  hasSucceeded: boolean;
  /** It goes on for ever unless it is ended. */
  isEndless: boolean;
  /** Launches of its own, and how many of them it waits for. */
  readonly asked: Work[];
  calls: number;
  listeners: (() => void)[];
  /** The server runs it as a command, and hears of its end by that. */
  readonly step: FlowStep | undefined;
  isForgotten: boolean;
}

/** Programs live in processes of their own: they outlive every server, and tell whichever one is there. */
export class Programs {
  readonly #world: World;
  /** By execution and part. */
  readonly #programs = new Map<string, Program>();

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * Begins the program of a launched execution. Called again for the same one, it does nothing. `hasDeadline`: whether its
   * root has one; what is shared with such a root alone is ended by nobody.
   */
  begin(row: Execution, work: Work, hasDeadline: boolean): void {
    if (this.#programs.has(keyOf(row.id))) return;
    const { budgets, choices, facts } = this.#world;
    const isEndless =
      hasDeadline &&
      this.#canBeEnded(work) &&
      budgets.has('endless') &&
      choices.chance(30) &&
      budgets.spend('endless');
    if (isEndless) facts.isHung = true;
    this.#programs.set(keyOf(row.id), newProgram(row.id, work, isEndless));
  }

  /** Whether a deadline would end it: everybody in whose turn it was launched has one. */
  #canBeEnded(work: Work): boolean {
    const { truth } = this.#world;
    // The call of a background task may be counted on whatever runs then, a root without a deadline included.
    if (work.activity === undefined && work.tells !== null) return false;
    const labels = work.activity ? [work.label, ...truth.labelsOf(work.activity)] : [work.label];
    return labels.every((label) => truth.hasDeadline(label));
  }

  /** How a server runs commands: it finds again those that an earlier server started. */
  commands(isAlive: () => boolean): CommandRunner {
    return {
      run: (subject, command) => {
        const id = subject.id as ExecutionId;
        const key = keyOf(id, subject.part);
        const program = this.#programs.get(key) ?? this.#ofCommand(id, key, command);
        if (program.isForgotten) this.#world.violations.report('TWICE', `${String(command)} is run again`);
        return new Promise<CommandEnd>((resolve) => {
          const tell = (): void => {
            if (isAlive()) resolve(endOf(program));
          };
          if (program.state === 'running') program.listeners.push(tell);
          else tell();
        });
      },
      end: async (id) => {
        await this.#world.gates.pass('end a program');
        for (const program of this.#of(id)) {
          if (program.state === 'running') this.#end(program, false);
          // Nobody waits for the answer of a call whose caller is dead; what comes of it all the same is seen.
          for (const call of program.asked) if (call.stage === 'calling') call.stage = 'never';
          program.state = 'told';
        }
        return 'dead';
      },
      forget: async (id, part) => this.#forget(id, part),
      clear: async (id, part) => this.#forget(id, part),
    };
  }

  #of(id: string): Program[] {
    return [...this.#programs.values()].filter((program) => program.executionId === id);
  }

  #forget(id: string, part?: number): void {
    const only = part === undefined ? undefined : this.#programs.get(keyOf(id, part));
    for (const program of this.#of(id))
      if (part === undefined || program === only) program.isForgotten = true;
  }

  /** A command begins: the check of a message, or the script of a step. */
  #ofCommand(id: ExecutionId, key: string, command: string | readonly string[]): Program {
    const { flows, budgets, choices, facts } = this.#world;
    const step = flows.step(String(command));
    if (step) {
      flows.checkOrder(step);
      step.work.stage = 'running';
    }
    const hasDeadline = step !== undefined && step.plan.timeoutMs !== null;
    const isEndless = hasDeadline && budgets.has('endless') && choices.chance(30) && budgets.spend('endless');
    if (isEndless) facts.isHung = true;
    const program = { ...newProgram(id, step?.work, isEndless, step), command: String(command) };
    this.#programs.set(key, program);
    return program;
  }

  /** A server died: what its programs asked of it comes to nothing. */
  breakCalls(): void {
    for (const program of this.#programs.values()) {
      program.calls = 0;
      if (program.state === 'told' && program.work?.stage === 'ended') program.state = 'ended';
    }
  }

  actions(server: Server | undefined): Action[] {
    return [...this.#programs.values()].flatMap((program) => this.#actionsOf(program, server));
  }

  #actionsOf(program: Program, server: Server | undefined): Action[] {
    const { budgets } = this.#world;
    const name = program.work?.label ?? program.command ?? 'a check';
    if (program.isForgotten) return [];
    if (program.state === 'told') return [];
    if (program.state === 'ended') {
      if (!program.work || program.step || !server?.isReady) return [];
      return [progress(`${name} tells its end`, () => this.#tell(program, server))];
    }
    const actions: Action[] = [];
    if (!program.isEndless && program.calls === 0) {
      actions.push(progress(`${name} ends`, () => this.#end(program, true), 6));
      if (budgets.has('programFailures')) {
        actions.push(
          maybe(`${name} fails`, () => {
            budgets.spend('programFailures');
            this.#end(program, false);
          }),
        );
      }
    }
    if (program.work && program.calls === 0 && budgets.has('launches') && server?.isReady) {
      actions.push(maybe(`${name} launches`, () => this.#launch(program, program.work as Work, server), 3));
    }
    return actions;
  }

  #end(program: Program, hasSucceeded: boolean): void {
    program.state = 'ended';
    program.hasSucceeded = hasSucceeded;
    if (program.work) program.work.stage = 'ended';
    program.step?.ends.set(program.executionId, hasSucceeded ? 'succeeded' : 'failed');
    for (const tell of program.listeners.splice(0)) tell();
  }

  #tell(program: Program, server: Server): void {
    program.state = 'told';
    const { clock, ids } = this.#world;
    const state = program.hasSucceeded ? 'succeeded' : 'failed';
    const error = program.hasSucceeded ? null : { code: 'AGENT_FAILED', message: 'exit code 1' };
    const ending = { state, result: `result of ${program.work?.label}`, error } as const;
    const command = { now: clock.now(), id: program.executionId, noticeId: ids.make('notice'), ending };
    server.run('settle', () => server.store.decide(() => settle(command)));
  }

  /** A program launches a child of its own, by its execution token: the result is the program's, no agent hears of it. */
  #launch(program: Program, parent: Work, server: Server): void {
    const { budgets, truth } = this.#world;
    budgets.spend('launches');
    const label = this.#world.label('w');
    const work = truth.addWork({
      kind: 'work',
      label,
      cause: parent.label,
      tells: null,
      activity: undefined,
      stage: 'calling',
    });
    program.calls++;
    program.asked.push(work);
    const caller = { by: 'execution', executionId: program.executionId } as const;
    server.run('launch', async () => {
      const launched = await server.launcher.launch({ caller, kind: 'step', name: label });
      program.calls = Math.max(0, program.calls - 1);
      if (!launched.ok) work.stage = 'never';
    });
  }
}

function keyOf(id: string, part = 0): string {
  return `${id}/${part}`;
}

/** What a command came to. One that prints the rows of a step prints two. */
function endOf({ command, hasSucceeded }: Program): CommandEnd {
  const output = command?.startsWith('rows of ') ? '[1, 2]' : '';
  return { exitCode: hasSucceeded ? 0 : 1, output };
}

function newProgram(
  executionId: ExecutionId,
  work: Work | undefined,
  isEndless: boolean,
  step?: FlowStep,
): Program {
  const about = { executionId, work, isEndless, step, command: undefined };
  return {
    ...about,
    state: 'running',
    hasSucceeded: true,
    asked: [],
    calls: 0,
    listeners: [],
    isForgotten: false,
  };
}
