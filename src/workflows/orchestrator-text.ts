import type { Orchestration } from '../ledger/step-plan.ts';

/**
 * What an agent that may give out work is told of it, behind what it is asked: whom it can call, and how results come back. The
 * tools themselves say no names, since they are the same for every conversation.
 */
export function withSubAgents(text: string, todo: Orchestration): string {
  const names = Object.entries(todo.agents).map(([name, { description }]) =>
    description === null ? `- ${name}` : `- ${name}: ${description}`,
  );
  const called = names.length > 0 ? ['Sub-agents that call_sub_agent can call:', ...names] : [];
  const generic = todo.generic
    ? ['call_generic_agent calls an agent that is told nothing but your instruction.']
    : [];
  const rest = [
    'A call returns at once. When all that you have started is what you want started, end your turn: do not wait, and do not ask for states again and again.',
    `When everything that you started in a turn has ended, all results come to you in one message; then you may start more. That can happen ${todo.maxRounds} times. A turn in which you start nothing is the last one, and what you say in it is the result.`,
    ...(todo.onChildFailure === 'cancel'
      ? ['When one of them fails, the others are stopped, and you are told which.']
      : []),
  ];
  return [text, ['[stemma] You can give out work.', ...called, ...generic, ...rest].join('\n')].join('\n\n');
}
