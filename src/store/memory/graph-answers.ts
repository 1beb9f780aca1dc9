import { assertNever } from '../../base/assert-never.ts';
import type { GraphStep } from '../../ledger/graph.ts';
import type { Question } from '../../ledger/questions.ts';
import type { MemoryState } from './state.ts';

/** A question about workflows and their steps. */
export type GraphQuestion = Extract<
  Question,
  {
    readonly ask:
      | 'graph'
      | 'graphStep'
      | 'graphStepNamed'
      | 'graphSteps'
      | 'graphOfStep'
      | 'backingOff'
      | 'openEvaluationsOf';
  }
>;

/** Answers what rules ask about workflows by looking at every row. */
export function answerOfGraphs(state: MemoryState, question: GraphQuestion): unknown {
  const steps = [...state.rows('graphStep').values()];
  const stepsOf = (id: string): GraphStep[] =>
    steps.filter((row) => row.graphId === id).sort((a, b) => a.index - b.index);
  const [id] = question.args;
  switch (question.ask) {
    case 'graph':
      return state.rows('graph').get(id);
    case 'graphStep':
      return state.rows('graphStep').get(id);
    case 'graphStepNamed':
      return stepsOf(id).find((row) => row.plan.name === question.args[1]);
    case 'graphSteps':
      return stepsOf(id);
    case 'graphOfStep':
      return steps.find((row) => row.currentId === id);
    case 'backingOff':
      return stepsOf(id)
        .filter((row) => row.state === 'backsOff')
        .slice(0, question.args[1]);
    case 'openEvaluationsOf':
      return [...state.rows('graph').values()]
        .filter((row) => row.of === id && row.state === 'running')
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    default:
      return assertNever(question);
  }
}
