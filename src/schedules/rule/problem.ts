/** A part of a rule, as people call it. */
export type RuleField =
  | 'cron'
  | 'second'
  | 'minute'
  | 'hour'
  | 'day of month'
  | 'month'
  | 'day of week'
  | 'every'
  | 'anchor'
  | 'at'
  | 'timezone';

/** Why a rule is refused. `message` is a sentence with the wrong text, what is wrong with it, and what to write instead. */
export interface RuleProblem {
  readonly field: RuleField;
  readonly message: string;
  /** What was probably meant, where that is known: it can take the place of the wrong text. */
  readonly nearest?: string;
}

/** Thrown inside the parser and caught by it: parts of an expression are read deep below. */
export class RuleRefusal extends Error {
  readonly problem: RuleProblem;

  constructor(field: RuleField, message: string, nearest?: string) {
    super(message);
    this.problem = { field, message, ...(nearest === undefined ? {} : { nearest }) };
  }
}
