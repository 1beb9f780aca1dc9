/** What a check says of one case. A skipped case says why; nothing is ever passed over in silence. */
export type CaseOutcome =
  | { readonly state: 'passed' }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'skipped'; readonly reason: string };

/** One case: what was checked, how it went, and what was seen meanwhile, a line for each call and event. */
export interface CaseResult {
  readonly name: string;
  readonly title: string;
  readonly outcome: CaseOutcome;
  readonly evidence: readonly string[];
  readonly tookMs: number;
}

/** A whole check. */
export interface ConformanceReport {
  readonly driver: string;
  readonly profile: string;
  /** True when no case failed. */
  readonly passed: boolean;
  readonly cases: readonly CaseResult[];
}

/** Thrown within a case: what was expected did not happen. */
export class CaseFailed extends Error {
  override readonly name = 'CaseFailed';
}

/** Thrown within a case: it makes no sense here. */
export class CaseSkipped extends Error {
  override readonly name = 'CaseSkipped';
}

/** Fails the case with this sentence unless `condition` holds. */
export function check(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new CaseFailed(sentence);
}

const declares = 'the driver declares that it ';

/** A case that was skipped because the driver says itself that it does not do that; `what` completes the sentence. */
export function declaredAbsent(what: string): CaseOutcome {
  return { state: 'skipped', reason: declares + what };
}

/** Whether a case was skipped because the driver itself says that it does not do what the case is about. */
export function isDeclaredAbsent(outcome: CaseOutcome): boolean {
  return outcome.state === 'skipped' && outcome.reason.startsWith(declares);
}
