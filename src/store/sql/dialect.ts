/**
 * In what the two databases differ, where a statement means the same to both. Whatever else differs is done by the
 * connection: how parameters are written, and hints that one of them does not know.
 */
export interface Dialect {
  /** One row of one JSON array: the column `id` of what `sql` selects, in its order. */
  ids(sql: string): string;
  /** A table `given (value)` of the texts in a parameter that is a JSON array. */
  readonly given: string;
  /** The beginning of a statement that goes on with the table `below (id)`. */
  walk(walk: Walk): string;
  readonly fields: DialectFields;
}

/** A walk downward, breadth first, that ends when it has come by so many. */
export interface Walk {
  /** Selects the first id. */
  readonly from: string;
  /** Selects the next ids from `walked`, the table of those found last. */
  readonly step: (walked: string) => string;
  /** A number or a parameter. */
  readonly limit: string;
}

/** What is inside of a column that is a document. */
export interface DialectFields {
  /** The name of a step, and what kind of work it is. */
  readonly stepName: string;
  readonly stepDoes: string;
  /** The workflow that a run sends, as its plan says it. */
  readonly runWorkflow: string;
  /** What a turn used, in and out; 0 when it is not known. */
  readonly tokens: string;
  /** Whether a schedule has the label that is the parameter. */
  readonly hasLabel: string;
}
