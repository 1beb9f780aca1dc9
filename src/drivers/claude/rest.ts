import { z } from 'zod';
import { type ClaudeState, newState } from './state.ts';

/** What is known at a position at which nothing runs: reading on from there needs nothing else. */
export interface Rest {
  readonly at: number;
  readonly state: ClaudeState;
}

const text = z.union([
  z.object({ id: z.string(), state: z.enum(['sent', 'queued', 'withdrawn']) }),
  z.object({ id: z.string(), state: z.literal('taken'), turnId: z.string() }),
]);
const task = z.object({
  taskId: z.string(),
  name: z.string(),
  type: z.string(),
  runId: z.string().optional(),
  toolUseId: z.string().optional(),
  isTold: z.boolean(),
  status: z.enum(['completed', 'failed', 'stopped', 'killed']).optional(),
  hasLeft: z.boolean().optional(),
});
const schema = z.object({
  hasLifecycle: z.boolean(),
  hasTaskList: z.boolean(),
  texts: z.array(z.tuple([z.string(), text])),
  tasks: z.array(z.tuple([z.string(), task])),
  untold: z.array(z.object({ taskId: z.string(), runId: z.string().optional(), wakes: z.boolean() })),
  calls: z.array(z.tuple([z.string(), z.string()])),
  ended: z.array(z.string()),
  usd: z.number().optional(),
  resetsAt: z.number().optional(),
});

/** How many settled texts and calls a note carries; what is still open is always in it. */
const settledKept = 10;
const callsKept = 50;
const endedKept = 10;

/** As much of a state as a note of a rest carries. No turn runs and no question is open then. */
export function restOf(state: ClaudeState): ClaudeState {
  const texts = [...state.texts];
  const isOpen = ([, { state: fate }]: (typeof texts)[number]): boolean =>
    fate === 'sent' || fate === 'queued';
  const settled = texts.filter((one) => !isOpen(one)).slice(-settledKept);
  return {
    ...newState(state.usd),
    hasLifecycle: state.hasLifecycle,
    hasTaskList: state.hasTaskList,
    texts: new Map([...settled, ...texts.filter(isOpen)]),
    tasks: state.tasks,
    untold: state.untold,
    calls: new Map([...state.calls].slice(-callsKept)),
    ended: state.ended.slice(-endedKept),
    resetsAt: state.resetsAt,
  };
}

/** A state as plain data, for `readRest`. */
export function writeRest(state: ClaudeState): unknown {
  const { texts, tasks, calls, turn: _, questions: __, agentCalls: ___, ...plain } = restOf(state);
  return { ...plain, texts: [...texts], tasks: [...tasks], calls: [...calls] };
}

/** The state of a note; undefined when it makes no sense. */
export function readRest(written: unknown): ClaudeState | undefined {
  const parsed = schema.safeParse(written);
  if (!parsed.success) return undefined;
  const { texts, tasks, calls, untold, usd, resetsAt, ...plain } = parsed.data;
  return {
    ...newState(usd),
    ...plain,
    resetsAt,
    texts: new Map(texts),
    tasks: new Map(
      tasks.map(([id, { runId, toolUseId, status, hasLeft, ...known }]) => [
        id,
        {
          ...known,
          ...(runId === undefined ? {} : { runId }),
          ...(toolUseId === undefined ? {} : { toolUseId }),
          ...(status === undefined ? {} : { status }),
          ...(hasLeft === undefined ? {} : { hasLeft }),
        },
      ]),
    ),
    calls: new Map(calls),
    untold: untold.map(({ runId, ...rest }) => ({ ...rest, ...(runId === undefined ? {} : { runId }) })),
  };
}
