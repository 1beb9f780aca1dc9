import type { StopReason } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { Action } from './script.ts';

/**
 * Reads a list of actions; what is wrong goes to `context` with its path below `path`. An action is found by its verb
 * first and checked second: a union of shapes would only say that none of twenty fits.
 */
export function actionList(value: unknown, path: readonly PropertyKey[], context: z.RefinementCtx): Action[] {
  if (!Array.isArray(value)) {
    context.addIssue({ code: 'custom', path: [...path], message: 'must be a list of actions' });
    return [];
  }
  return value.flatMap((entry: unknown, index) => readAction(entry, [...path, index], context));
}

function readAction(value: unknown, path: readonly PropertyKey[], context: z.RefinementCtx): Action[] {
  const complain = (message: string, at: readonly PropertyKey[] = []): Action[] => {
    context.addIssue({ code: 'custom', path: [...path, ...at], message });
    return [];
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return complain('must be an object with one verb');
  const named = Object.keys(value).filter((key) => key in verbs) as Verb[];
  const [verb, second] = named;
  if (verb === undefined) return complain(`has no verb; one of ${Object.keys(verbs).join(', ')}`);
  if (second !== undefined)
    return complain(`has two verbs, "${verb}" and "${second}"; make two actions of it`);
  const parsed = verbs[verb].safeParse(value);
  if (parsed.success) return [parsed.data];
  for (const issue of parsed.error.issues) complain(issue.message, issue.path);
  return [];
}

type Verb = Action['verb'];

const ms = z.number().int().nonnegative();
const yes = z.literal(true);
const stopReason = z.enum([
  'end_turn',
  'max_tokens',
  'max_turn_requests',
  'refusal',
  'cancelled',
]) satisfies z.ZodType<StopReason>;
const actions = z
  .unknown()
  .transform((value, context) => (value === undefined ? [] : actionList(value, [], context)));
const record = z.record(z.string(), z.unknown());

const verbs: { readonly [V in Verb]: z.ZodType<Action> } = {
  say: z
    .strictObject({ say: z.string(), afterMs: ms.default(0) })
    .transform(({ say, afterMs }) => ({ verb: 'say', text: say, afterMs })),
  think: z.strictObject({ think: z.string() }).transform(({ think }) => ({ verb: 'think', text: think })),
  wait: z.strictObject({ wait: ms }).transform(({ wait }) => ({ verb: 'wait', ms: wait })),
  until: z
    .strictObject({ until: z.string().min(1) })
    .transform(({ until }) => ({ verb: 'until', file: until })),
  call: z
    .strictObject({
      call: z.string().min(1),
      with: record.default({}),
      saveAs: z
        .string()
        .regex(/^[a-z]\w*$/i, 'must be a name')
        .optional(),
      silent: z.boolean().default(false),
      afterMs: ms.default(0),
    })
    .transform(({ call, with: args, ...rest }) => ({
      verb: 'call',
      tool: call,
      args,
      ...rest,
      saveAs: rest.saveAs,
    })),
  parallel: z
    .strictObject({ parallel: actions })
    .transform(({ parallel }) => ({ verb: 'parallel', actions: parallel })),
  work: z
    .strictObject({ work: z.string(), ms: ms.default(0), output: z.string().default('done') })
    .transform(({ work, ...rest }) => ({ verb: 'work', title: work, ...rest })),
  ask: z
    .strictObject({ ask: z.string(), allowed: actions.optional(), denied: actions.optional() })
    .transform(({ ask, allowed = [], denied = [] }) => ({ verb: 'ask', question: ask, allowed, denied })),
  end: z.strictObject({ end: stopReason }).transform(({ end }) => ({ verb: 'end', reason: end })),
  fail: z
    .strictObject({ fail: z.string(), code: z.int().default(-32603), data: z.unknown().optional() })
    .transform(({ fail, code, data }) => ({ verb: 'fail', message: fail, code, data })),
  limit: z
    .strictObject({ limit: z.string(), resetsInMs: ms.optional() })
    .transform(({ limit, resetsInMs }) => ({ verb: 'limit', message: limit, resetsInMs })),
  login: z.strictObject({ login: z.string() }).transform(({ login }) => ({ verb: 'login', message: login })),
  later: z
    .strictObject({ later: actions, afterMs: ms.default(100) })
    .transform(({ later, afterMs }) => ({ verb: 'later', actions: later, afterMs })),
  ignoreCancel: z.strictObject({ ignoreCancel: yes }).transform(() => ({ verb: 'ignoreCancel' })),
  respond: z
    .strictObject({ respond: stopReason, id: z.string().optional() })
    .transform(({ respond, id }) => ({ verb: 'respond', reason: respond, id })),
  garbage: z
    .strictObject({ garbage: z.string().regex(/^[^\n]*$/, 'must be one line') })
    .transform(({ garbage }) => ({ verb: 'garbage', line: garbage })),
  bigLine: z
    .strictObject({
      bigLine: z
        .int()
        .positive()
        .max(64 * 1024 * 1024),
    })
    .transform(({ bigLine }) => ({ verb: 'bigLine', bytes: bigLine })),
  update: z
    .strictObject({ update: record, session: z.string().optional() })
    .transform(({ update, session }) => ({ verb: 'update', update, session })),
  hang: z.strictObject({ hang: yes }).transform(() => ({ verb: 'hang' })),
  exit: z
    .strictObject({ exit: z.int().min(0).max(255) })
    .transform(({ exit }) => ({ verb: 'exit', code: exit })),
  kill: z.strictObject({ kill: yes }).transform(() => ({ verb: 'kill' })),
  stopReading: z.strictObject({ stopReading: yes }).transform(() => ({ verb: 'stopReading' })),
};
