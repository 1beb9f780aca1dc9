import type { AgentProcess } from './agent.ts';
import { fullWorkflow, launchingIdeas } from './launching-tools.ts';
import type { Action } from './scheduler.ts';
import { maybe, progress } from './scheduler.ts';
import type { Source } from './truth.ts';
import type { World } from './world.ts';

/** Everything that an agent's process may do now. */
export function agentActions(world: World, process: AgentProcess): Action[] {
  return [
    ...ownProgress(world, process),
    ...taskProgress(world, process),
    ...ideas(world, process),
    ...typing(world, process),
    ...misbehaviour(world, process),
  ];
}

function ownProgress(world: World, process: AgentProcess): Action[] {
  const { label } = process.agent;
  const actions: Action[] = [];
  const held = process.takeable();
  if (held) {
    const what = held.carried.map((one) => one.label).join('+');
    actions.push(progress(`${label} takes up ${what}`, () => process.take(held), 12));
  }
  if (process.isHung || !process.activity) return actions;
  const at = process.activity.nativeTurnId;
  if (process.isInterruptAsked) {
    actions.push(progress(`${at} stops as asked`, () => process.finish('interrupted'), 20));
  }
  if (process.isWaiting) {
    actions.push(
      progress(`${at} goes on`, () => {
        process.isWaiting = false;
        process.tell({ type: 'resumed' });
      }),
    );
    return actions;
  }
  const waitsForCall = process.asking > 0 || process.calls.some((call) => call.nativeTurnId === at);
  if (waitsForCall) return actions;
  actions.push(progress(`${at} ends`, () => end(world, process), 8));
  if (
    world.budgets.has('selfReports') &&
    process.activity.carried.some((one) => world.flows.isOfStep(one.label))
  )
    actions.push(maybe(`${at} reports its failure`, () => report(world, process), 4));
  return actions;
}

/** Asked to choose, it says the same in the last line of each answer from then on. */
function end(world: World, process: AgentProcess): void {
  const said = process.activity?.carried.map((one) => world.flows.choiceFor(one.label)).find(Boolean);
  const { agent } = process;
  agent.says = said ?? agent.says;
  const answer = agent.says === undefined ? undefined : `I choose:\n${agent.says}`;
  process.finish('succeeded', undefined, undefined, answer);
}

/** It says that it could not do what it was asked, by the end of its answer. */
function report(world: World, process: AgentProcess): void {
  world.budgets.spend('selfReports');
  for (const { label } of process.activity?.carried ?? []) world.truth.reported.add(label);
  process.finish('succeeded', undefined, undefined, 'Too hard.\n[stemma failed] it is too hard');
}

function taskProgress(world: World, process: AgentProcess): Action[] {
  const { label } = process.agent;
  const actions: Action[] = [];
  for (const task of process.untold) {
    actions.push(progress(`${label} reports its task ${task}`, () => process.tellTask(task), 4));
  }
  for (const taskId of process.tasks.keys()) {
    const work = world.truth.works.get(taskId);
    if (!work || process.calls.some((call) => call.work.cause === taskId)) continue;
    actions.push(progress(`task ${taskId} ends`, () => process.endTask(work, 'succeeded'), 4));
  }
  const [wake] = process.wakes;
  if (wake !== undefined && !process.isHung && !process.isWaiting) {
    actions.push(progress(`${label} wakes for ${wake}`, () => process.wakeFor(wake)));
  }
  return actions;
}

const launchKinds = ['step', 'agent', 'workflow'] as const;
const workKinds = ['workflow', 'workflow', 'workflow', 'agent', 'step'] as const;

/** What an agent may take it into its head to launch. */
function ideas(world: World, process: AgentProcess): Action[] {
  const { agent, activity } = process;
  const actions: Action[] = [];
  if (world.budgets.has('launches')) {
    const isBusy = process.calls.length > 1 || process.isHung || process.isWaiting;
    if (activity && !isBusy)
      actions.push(maybe(`${activity.nativeTurnId} launches`, () => launch(world, process), 10));
    for (const task of process.tasks.keys()) {
      actions.push(maybe(`task ${task} launches`, () => launch(world, process, task), 4));
    }
  }
  if (activity && process.calls.length < 3 && !process.isHung && !process.isWaiting)
    actions.push(...launchingIdeas(world, process, activity));
  if (activity && agent.kind.capabilities.backgroundTasks && world.budgets.has('tasks')) {
    actions.push(
      maybe(`${activity.nativeTurnId} begins a background task`, () => beginTask(world, process), 8),
    );
  }
  return actions;
}

/** A person at the agent's own screen, whom the server hears of only through the agent. */
function typing(world: World, process: AgentProcess): Action[] {
  const { agent } = process;
  if (!agent.kind.hasScreen || process.isHung || process.isWaiting || !world.budgets.has('typed')) return [];
  const type = (): void => {
    world.budgets.spend('typed');
    const label = world.label('p');
    world.truth.addMessage(label, agent.sessionId, null);
    process.hear(label);
    world.note(`  ${label}, typed`);
  };
  return [maybe(`a person types at the screen of ${agent.label}`, type, world.isCrowded ? 12 : 4)];
}

function launch(world: World, process: AgentProcess, task?: string): void {
  world.budgets.spend('launches');
  const { activity, agent } = process;
  const kind = world.choices.pick(world.isWorking ? workKinds : launchKinds);
  const isFlow = world.isWorking && kind === 'workflow';
  const label = `${world.label('w')}${kind === 'agent' ? 'a' : isFlow ? 'f' : ''}`;
  const source = task === undefined ? sourceWithin(world, process) : { cause: task, via: null };
  const { cause } = source;
  const work = world.truth.addWork({
    kind: 'work',
    label,
    ...source,
    tells: agent.sessionId,
    activity: task === undefined ? activity : undefined,
    stage: 'calling',
  });
  const isInTurn = task === undefined || agent.kind.capabilities.locatesCalls === 'byOrder';
  const tool = isFlow ? fullWorkflow(world, work) : undefined;
  process.call(work, isInTurn && task === undefined ? activity?.nativeTurnId : undefined, tool);
  world.note(`  ${label}: a ${kind}, because of ${cause ?? 'nothing'}`);
}

/** The true cause of what an agent does now: one of the texts that it has taken up, or of the tasks that woke it. */
export function sourceWithin(world: World, process: AgentProcess): Source {
  const labels = process.activity ? world.truth.labelsOf(process.activity) : [];
  return labels.length === 0 ? { cause: null, via: null } : world.truth.sourceOf(world.choices.pick(labels));
}

function beginTask(world: World, process: AgentProcess): void {
  world.budgets.spend('tasks');
  const label = world.label('t');
  const source = sourceWithin(world, process);
  const work: Parameters<World['truth']['addWork']>[0] = {
    kind: 'task',
    label,
    ...source,
    tells: process.agent.sessionId,
    activity: process.activity,
    stage: 'running',
  };
  world.truth.addWork(work);
  process.startTask(label);
  world.note(`  ${label}: because of ${source.cause ?? 'nothing'}`);
}

function misbehaviour(world: World, process: AgentProcess): Action[] {
  const { label } = process.agent;
  const { budgets, facts, truth } = world;
  const actions: Action[] = [];
  const fault = (budget: string, name: string, run: () => void, weight = 3): void => {
    if (!budgets.has(budget)) return;
    actions.push(
      maybe(
        name,
        () => {
          budgets.spend(budget);
          run();
        },
        weight,
      ),
    );
  };
  const { activity } = process;
  fault('deaths', `the process of ${label} dies`, () => process.die('killed'), 2);
  fault('repeats', `${label} repeats itself`, () => repeat(world, process));
  if (!activity) {
    if (!process.isHung) fault('strays', `${label} begins something by itself`, () => process.stray());
    return actions;
  }
  const at = activity.nativeTurnId;
  if (process.isHung) return actions;
  if (!process.isWaiting) fault('questions', `${at} waits`, () => wait(world, process));
  fault('turnFailures', `${at} fails`, () => fail(world, process));
  // What hangs for nobody's message has no deadline: a person must end it.
  const hasDeadline = truth.labelsOf(activity).every((label) => truth.hasDeadline(label));
  if (activity.isLate || !hasDeadline) return actions;
  fault(
    'hangs',
    `${at} hangs`,
    () => {
      process.isHung = true;
      facts.isHung = true;
    },
    1,
  );
  return actions;
}

function wait(world: World, process: AgentProcess): void {
  process.isWaiting = true;
  if (world.choices.chance(30)) {
    process.tell({ type: 'waiting', waitsFor: 'capacity', text: 'the provider is busy' });
    return;
  }
  process.tell({
    type: 'waiting',
    waitsFor: 'input',
    questionId: 'q1',
    text: 'May I?',
    choices: ['yes', 'no'],
  });
}

function fail(world: World, process: AgentProcess): void {
  const kind = world.choices.pick(['agent', 'capacity', 'login'] as const);
  const isKnown = kind === 'capacity' && world.choices.chance(60);
  process.finish('failed', kind, isKnown ? world.clock.now() + 60_000 : undefined);
}

/** Says something again that it has said before, or nothing that anybody understands. */
function repeat(world: World, process: AgentProcess): void {
  const said = process.stream.filter((event) => isHarmlessAgain(process, event));
  const event = said[world.choices.below(said.length + 1)];
  if (event) process.tell(event);
  else process.tell({ type: 'noise', what: 'garbage' });
}

function isHarmlessAgain(process: AgentProcess, event: AgentProcess['stream'][number]): boolean {
  if (event.type === 'turnEnded' || event.type === 'taskEnded') return true;
  const isCurrent = 'nativeTurnId' in event && event.nativeTurnId === process.activity?.nativeTurnId;
  return (event.type === 'taken' || event.type === 'typed' || event.type === 'turnStarted') && isCurrent;
}
