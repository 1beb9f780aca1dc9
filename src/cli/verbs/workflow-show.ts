import type { Command } from 'commander';
import { StemmaError } from '../../base/errors.ts';
import type { StemmaClient } from '../../client/stemma-client.ts';
import { largestMessages, type StepAttemptView } from '../../contract/step-attempt.ts';
import { largestSteps, type WorkflowStep, type WorkflowView } from '../../contract/workflow.ts';
import { attemptLines, headLines, stepLines } from '../attempt-lines.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import {
  cursorOption,
  defined,
  limitOption,
  numberOf,
  type Options,
  type Registrar,
  requiredText,
  textOf,
  wholeNumber,
} from '../verb.ts';

/** `stemma workflow show ID`: its steps with their attempts; with `--step` one of them whole. */
export function addWorkflowShow(group: Command, { verb }: Pick<Registrar, 'verb'>): void {
  group
    .command('show')
    .description('the steps of a workflow that was run: attempts, cost, outputs, and what each waits for')
    .argument('<id>', 'a run, or the execution of a workflow; the beginning of an id is enough')
    .option(
      '--step <name>',
      'this step whole: what it was told, what came of it, and where its record lies; GROUP/NAME or STEP/NAME goes into a group, or into the workflow that a step runs',
    )
    .option('--attempt <n>', 'with --step: this attempt (else the latest one)', wholeNumber(1, 100_000))
    .addOption(limitOption(largestSteps))
    .addOption(cursorOption())
    .action(verb(show));
}

async function show(context: CliContext, args: readonly unknown[], options: Options): Promise<number> {
  const client = await context.connect();
  const id = requiredText(args[0], 'id');
  const step = textOf(options['step']);
  const paging = defined({ limit: numberOf(options['limit']), cursor: textOf(options['cursor']) });
  if (step === undefined && options['attempt'] !== undefined)
    throw new StemmaError('INVALID_INPUT', '--attempt needs --step NAME: the step whose attempt it is.');
  if (step !== undefined)
    return showStep(context, client, await workflowId(client, id), { ...options, step });
  const view =
    id.startsWith('run_') && Object.keys(paging).length === 0
      ? (await client.call('getRun', { id })).workflow
      : await client.call('getWorkflowOf', { id: await workflowId(client, id), query: texts(paging) });
  if (!view) throw noWorkflow(id);
  if (context.isJson) {
    context.document(view);
    return exitCodes.ok;
  }
  const now = context.deps.clock.now();
  context.lines([
    ...headLines(view, now),
    ...view.steps.flatMap((each) => stepLines(each, { now, signs: context.signs })),
  ]);
  if (view.nextCursor !== undefined) context.talk(`There are more steps: --cursor ${view.nextCursor}`);
  return exitCodes.ok;
}

function texts(values: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
}

/** Of a run, the execution of its workflow. */
async function workflowId(client: StemmaClient, id: string): Promise<string> {
  if (!id.startsWith('run_')) return id;
  const { workflow, id: whole } = await client.call('getRun', { id });
  if (!workflow) throw noWorkflow(whole);
  if (workflow.executionId !== undefined) return workflow.executionId;
  throw new StemmaError('ILLEGAL_STATE', `Run ${whole} has not begun its workflow yet: stemma why ${whole}`, {
    id: whole,
  });
}

function noWorkflow(id: string): StemmaError {
  const message = `${id} is no run of a workflow; stemma tree ${id} shows what it is.`;
  return new StemmaError('NOT_FOUND', message, { id });
}

async function showStep(
  context: CliContext,
  client: StemmaClient,
  id: string,
  options: Options & { readonly step: string },
): Promise<number> {
  const { view, step } = await stepAt(client, id, options.step);
  const attempt = await attemptOf(client, view, step, options);
  if (context.isJson) {
    context.document({ workflow: { ...view, steps: undefined }, step, ...(attempt ? { attempt } : {}) });
    return exitCodes.ok;
  }
  const now = context.deps.clock.now();
  context.lines([
    ...headLines(view, now),
    ...stepLines(step, { now, signs: context.signs }),
    ...(attempt ? attemptLines(attempt, now, context.style().columns) : []),
  ]);
  if (!attempt) context.talk(`${options.step} has not begun.`);
  if (attempt?.nextCursor !== undefined)
    context.talk(`There are more messages: --step ${options.step} --cursor ${attempt.nextCursor}`);
  return exitCodes.ok;
}

/** The step at the end of a way through workflows: `eu/fix` is `fix` in what the latest attempt of `eu` runs. */
async function stepAt(
  client: StemmaClient,
  id: string,
  way: string,
): Promise<{ readonly view: WorkflowView; readonly step: WorkflowStep }> {
  const [name = '', ...rest] = way.split('/');
  const view = await client.call('getWorkflowOf', { id, query: { step: name } }).catch(withWay);
  const [step] = view.steps;
  if (!step) throw new StemmaError('NOT_FOUND', `${id} has no step "${name}".`, { id });
  if (rest.length === 0) return { view, step };
  if (step.type !== 'workflow') {
    const message = `"${name}" is a ${step.type} and has no steps of its own; leave out "/${rest.join('/')}".`;
    throw new StemmaError('INVALID_INPUT', message, { id, step: name });
  }
  const below = step.attempts.at(-1)?.executionId ?? step.reused;
  if (below === undefined)
    throw new StemmaError('ILLEGAL_STATE', `"${name}" has not begun, so it has no steps yet.`, { id });
  return stepAt(client, below, rest.join('/'));
}

/** The same error; where some of the steps are workflows, with how to go into them. */
function withWay(thrown: unknown): never {
  const within =
    thrown instanceof StemmaError ? (thrown.data?.['within'] as string[] | undefined) : undefined;
  if (!(thrown instanceof StemmaError) || !within?.[0]) throw thrown;
  const message = `${thrown.message} In the workflow of a step: --step ${within[0]}/NAME.`;
  throw new StemmaError(thrown.code, message, thrown.data, thrown);
}

/** The attempt that is meant; where it was done before, that of then. Undefined: it has not begun. */
async function attemptOf(
  client: StemmaClient,
  view: WorkflowView,
  { name, attempts, reused, tries }: WorkflowStep,
  options: Options,
): Promise<StepAttemptView | undefined> {
  const wanted = numberOf(options['attempt']);
  const chosen = wanted === undefined ? attempts.at(-1) : attempts.find(({ attempt }) => attempt === wanted);
  const id = chosen?.executionId ?? (wanted === undefined ? reused : undefined);
  if (wanted !== undefined && id === undefined) {
    const had = `Step "${name}" of ${view.executionId ?? view.name} had ${tries} ${tries === 1 ? 'attempt' : 'attempts'}`;
    const message =
      wanted <= tries
        ? `${had}; of so many only the latest ${attempts.length} are shown here. "stemma tree" has all of them.`
        : `${had}, and none with the number ${wanted}.`;
    throw new StemmaError('NOT_FOUND', message, { step: name, attempt: wanted });
  }
  if (id === undefined) return undefined;
  const limit = numberOf(options['limit']);
  const query = defined({
    limit: limit === undefined ? undefined : String(Math.min(limit, largestMessages)),
    cursor: textOf(options['cursor']),
  });
  return client.call('getStepAttempt', { id, query });
}
