import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Refusal, Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import type { Budget, Execution, ExecutionUsage } from './execution.ts';
import { isSettled } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import type { Turn } from './turn.ts';

const fields = ['inputTokens', 'outputTokens', 'usd'] as const satisfies readonly (keyof ExecutionUsage)[];

/** The agent told what its running turn has used so far. */
export interface AgentUsed {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly nativeTurnId: string;
  /** Of the whole turn up to now, not since the last time: told twice, it counts once. */
  readonly usage: ExecutionUsage;
}

/** Counts what a running turn has used, so that a budget is kept within a turn too. Of a turn that does not run: ignored. */
export function* agentUsed(command: AgentUsed): Rule<boolean> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  for (const id of session ? [session.wakeTurn, session.laneTurn] : []) {
    const turn = id === null ? undefined : yield* ask('turn', id);
    const runs = turn?.state === 'running' || turn?.state === 'waiting';
    if (!turn || !runs || turn.nativeTurnId !== command.nativeTurnId) continue;
    const used = yield* countUsage(draft, turn, yield* ask('owners', turn.id), command.usage);
    if (!used) return draft.done(false);
    draft.patch(used.ownerId, { usage: used.usage });
    return draft.done(true);
  }
  return draft.done(false);
}

/** Whose usage has become what. */
export interface Counted {
  readonly ownerId: ExecutionId;
  readonly usage: ExecutionUsage;
}

/**
 * Counts what a turn has used since it was told last: once, on its primary owner, as nobody knows for which of its owners
 * the agent worked. In the same decision it is added to what is spent above: at the root, and at each workflow, step and
 * message with a budget on the way. The caller writes the answer to the owner's row, since it may be settling it. Undefined: nothing new.
 */
export function* countUsage(
  draft: Draft,
  turn: Turn,
  owners: readonly Execution[],
  total: ExecutionUsage,
): Asking<Counted | undefined> {
  const owner = owners.find((each) => !isSettled(each.state)) ?? owners[0];
  const more = usageBeyond(total, turn.usage);
  if (!owner || !more) return undefined;
  draft.add({ do: 'patchTurn', id: turn.id, set: { usage: addUsage(turn.usage, more) } });
  yield* spend(draft, owner, more);
  return { ownerId: owner.id, usage: addUsage(owner.usage, more) };
}

/**
 * A turn that ended well and told nothing of what a budget above it counts: people are told, since that budget may be
 * exceeded and nobody sees it. Its agent was believed to tell.
 */
export function* alarmUntold(
  draft: Draft,
  owners: readonly Execution[],
  usage: ExecutionUsage | undefined,
): Asking<void> {
  const hasTokens = usage?.inputTokens !== undefined || usage?.outputTokens !== undefined;
  let above = owners.find((each) => !isSettled(each.state));
  while (above) {
    const { budget } = above;
    const isTold =
      (budget?.tokens === undefined || hasTokens) && (budget?.usd === undefined || usage?.usd !== undefined);
    if (!isTold) draft.event('alarm', above, { what: 'usageUntold', budget });
    above = above.parentId === null ? undefined : yield* ask('execution', above.parentId);
  }
}

/** Adds to what is spent at and above an execution, and has ended what thereby exceeds its budget. */
function* spend(draft: Draft, row: Execution, more: ExecutionUsage): Asking<void> {
  let above: Execution | undefined = row;
  while (above) {
    if (isCounted(above)) {
      draft.add({ do: 'spend', id: above.id, by: more });
      overspend(draft, above, addUsage(above.spent, more));
    }
    above = above.parentId === null ? undefined : yield* ask('execution', above.parentId);
  }
}

/** Whether it counts what is used at and below it. Of a step people ask what it cost, so it and its workflow always do. */
function isCounted({ parentId, budget, kind }: Execution): boolean {
  const isOfWorkflow = kind === 'workflow' || kind === 'evaluation' || kind === 'step';
  return parentId === null || budget !== null || isOfWorkflow;
}

/**
 * What it comes to is decided in the transaction that counts, since the tree may close with it; the wake-up ends what still
 * runs. What has closed is decided, and so is what was cancelled or has failed by its deadline.
 */
function overspend(draft: Draft, row: Execution, spent: ExecutionUsage): void {
  if (!rules.budgetStop || row.closed || !exceeds(spent, row.budget) || isOverspent(row)) return;
  if (row.verdict === null && row.cancelRequested === null) draft.patch(row.id, { verdict: 'BUDGET' });
  draft.event('execution.overspent', row, { spent, budget: row.budget });
  draft.wake('deadline', row.id);
}

/** Whether it has used more than it was given. */
export function isOverspent(row: Pick<Execution, 'budget' | 'spent'>): boolean {
  return rules.budgetStop && row.spent !== null && exceeds(row.spent, row.budget);
}

function exceeds(spent: ExecutionUsage, budget: Budget | null): boolean {
  if (budget === null) return false;
  const tokens = (spent.inputTokens ?? 0) + (spent.outputTokens ?? 0);
  const isOverTokens = budget.tokens !== undefined && tokens > budget.tokens;
  return isOverTokens || (budget.usd !== undefined && (spent.usd ?? 0) > budget.usd);
}

/** What of its usage an agent tells. `cost`: tokens and US dollars. */
export type UsageTold = 'none' | 'tokens' | 'cost';

/** Why a budget could not be kept with this agent, if so: nobody would see it exceeded. */
export function refusalOfBudget(agent: string, told: UsageTold, budget: Budget): Refusal | undefined {
  if (told === 'cost' || (told === 'tokens' && budget.usd === undefined)) return undefined;
  const message =
    told === 'none'
      ? `Agent "${agent}" does not tell what it uses, so no budget can be kept with it; leave the budget out, or use another agent.`
      : `Agent "${agent}" tells its tokens and not what they cost, so a budget in USD cannot be kept with it; give one in tokens.`;
  return refuse('NO_USAGE', message, { agent, tells: told });
}

/** Why an agent may not work below an execution, if so: a budget above it would not be kept. */
export function* refusalBelowBudgets(
  parent: Execution,
  agent: string,
  told: UsageTold,
): Asking<Refusal | undefined> {
  let above: Execution | undefined = parent;
  while (above && told !== 'cost') {
    const refused = above.budget ? refusalOfBudget(agent, told, above.budget) : undefined;
    if (refused) return refused;
    above = above.parentId === null ? undefined : yield* ask('execution', above.parentId);
  }
  return undefined;
}

/** `5,300 tokens and 0.41 USD`: for people. */
export function describeUsage(used: (ExecutionUsage & Budget) | null): string {
  const { inputTokens, outputTokens, usd, tokens = sumOf(inputTokens, outputTokens) } = used ?? {};
  const parts = [
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(usd === undefined ? [] : [`${usd} USD`]),
  ];
  return parts.join(' and ') || 'nothing';
}

function sumOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}

/** A sum, without what neither of the two says. */
export function addUsage(a: ExecutionUsage | null, b: ExecutionUsage): ExecutionUsage {
  const sum: { -readonly [Field in keyof ExecutionUsage]: ExecutionUsage[Field] } = {};
  for (const field of fields) {
    const parts = [a?.[field], b[field]].filter((part) => part !== undefined);
    // Sums of fractions of a cent are kept from growing digits that nobody reported: to a billionth of a dollar.
    if (parts.length > 0) sum[field] = Math.round(parts.reduce((x, y) => x + y, 0) * 1e9) / 1e9;
  }
  return sum;
}

/** What of a total is new. A total that has fallen brings nothing: what was counted stays. */
function usageBeyond(total: ExecutionUsage, before: ExecutionUsage | null): ExecutionUsage | undefined {
  const more: { -readonly [Field in keyof ExecutionUsage]: ExecutionUsage[Field] } = {};
  for (const field of fields) {
    const now = total[field];
    if (now === undefined || !Number.isFinite(now)) continue;
    const by = now - (before?.[field] ?? 0);
    if (by > 0 || (by === 0 && before?.[field] === undefined)) more[field] = by;
  }
  return Object.keys(more).length === 0 ? undefined : more;
}
