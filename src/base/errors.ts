/**
 * Every error that leaves Stemma has a code of this table. `status` is HTTP, `exit` is the command line's exit code.
 * The title says what kind of thing happened; the message of the error says to which id, and what to do. What each
 * means: `error-advice.ts`.
 */
const table = {
  INVALID_INPUT: { status: 400, exit: 2, title: 'The input is not valid' },
  MALFORMED_JSON: { status: 400, exit: 2, title: 'The body is not JSON' },
  BODY_TOO_LARGE: { status: 413, exit: 2, title: 'The body is too large' },
  UNAUTHORIZED: { status: 401, exit: 5, title: 'A valid token is needed' },
  FORBIDDEN: { status: 403, exit: 5, title: 'The token does not allow this' },
  FOREIGN_HOST: { status: 403, exit: 5, title: 'The request names another host' },
  NOT_FOUND: { status: 404, exit: 3, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, exit: 2, title: 'The method is not allowed' },
  AMBIGUOUS_ID: { status: 409, exit: 2, title: 'The id fits several things' },
  PARENT_CLOSED: { status: 409, exit: 4, title: 'The parent is closed' },
  CANCELLED: { status: 409, exit: 4, title: 'The tree was cancelled' },
  SESSION_MISMATCH: { status: 409, exit: 4, title: 'The execution belongs to another session' },
  TURN_ENDED: { status: 409, exit: 4, title: 'The turn of this call has ended' },
  TURN_NOT_PROVEN: { status: 409, exit: 4, title: 'The turn of this call is not proven' },
  WAIT_ON_SELF: { status: 409, exit: 4, title: 'Waiting for this would wait for oneself' },
  ROUNDS_EXCEEDED: { status: 502, exit: 1, title: 'An orchestrator gave out work more often than it may' },
  DEPTH_EXCEEDED: { status: 409, exit: 4, title: 'The tree is too deep' },
  IN_FLIGHT: { status: 409, exit: 4, title: 'The text is already with the agent' },
  SESSION_BUSY: { status: 409, exit: 4, title: 'The session is busy' },
  SESSION_STOPPED: { status: 409, exit: 4, title: 'The session is stopped' },
  ILLEGAL_STATE: { status: 409, exit: 4, title: 'Not possible in this state' },
  OVERLAP: { status: 409, exit: 4, title: 'A run of the schedule is still at work' },
  IDEMPOTENCY_MISMATCH: { status: 409, exit: 4, title: 'The idempotency key belongs to another request' },
  DUPLICATE_KEY: { status: 409, exit: 4, title: 'This attempt of the key exists already' },
  RECOVERING: { status: 503, exit: 6, title: 'The server is still recovering' },
  STOPPING: { status: 503, exit: 6, title: 'The server is stopping' },
  AGENT_UNAVAILABLE: { status: 409, exit: 5, title: 'The agent cannot be started' },
  TERMINAL_UNAVAILABLE: { status: 409, exit: 5, title: 'The terminal cannot be had' },
  AGENT_FAILED: { status: 502, exit: 1, title: 'The agent failed' },
  LOST: { status: 502, exit: 1, title: 'The evidence of how it ended is gone' },
  TIMED_OUT: { status: 504, exit: 124, title: 'The deadline passed' },
  BUDGET: { status: 502, exit: 1, title: 'The budget was exceeded' },
  NO_USAGE: { status: 409, exit: 5, title: 'The agent does not report this usage' },
  NOTICE_UNDELIVERABLE: { status: 502, exit: 1, title: 'A result could not be delivered' },
  SESSION_GONE: { status: 502, exit: 1, title: 'The conversation is gone' },
  CAPACITY: { status: 502, exit: 7, title: 'A usage limit was not waited out' },
  SIGNED_OUT: { status: 502, exit: 7, title: 'The agent is not signed in' },
  CHECK_FAILED: { status: 502, exit: 1, title: 'The check failed' },
  STEP_FAILED: { status: 502, exit: 1, title: 'A step failed' },
  SCRIPT_FAILED: { status: 502, exit: 1, title: 'The script failed' },
  ROUTE_FAILED: { status: 502, exit: 1, title: 'No way was chosen' },
  DECLINED: { status: 502, exit: 1, title: 'A person said no' },
  OUTPUT_INVALID: { status: 502, exit: 1, title: 'An output is missing or does not fit' },
  SELF_REPORTED: { status: 502, exit: 1, title: 'The agent reported a failure' },
  DESCENDANT_FAILED: { status: 502, exit: 1, title: 'Something below failed' },
  TEMPLATE_FAILED: { status: 502, exit: 1, title: 'A template could not be filled in' },
  INVALID_WORKSPACE: { status: 409, exit: 5, title: 'The workspace cannot be used' },
  GIT_FAILED: { status: 502, exit: 5, title: 'Git failed' },
  INVALID_CONFIG: { status: 400, exit: 5, title: 'The configuration is not valid' },
  DATA_DIR_IN_USE: { status: 409, exit: 4, title: 'The data directory is in use' },
  DATA_DIR_UNUSABLE: { status: 500, exit: 5, title: 'The data directory cannot be used' },
  SCHEMA_TOO_NEW: { status: 500, exit: 5, title: 'The database is from a newer version' },
  SCHEMA_DRIFT: { status: 500, exit: 5, title: 'The database has drifted' },
  DISK_FULL: { status: 507, exit: 5, title: 'The disk is full' },
  DATABASE_UNAVAILABLE: { status: 503, exit: 5, title: 'The database cannot be used' },
  DATABASE_IN_USE: { status: 409, exit: 4, title: 'The database is in use' },
  PORT_IN_USE: { status: 500, exit: 5, title: 'The port is in use' },
  UNREACHABLE: { status: 502, exit: 6, title: 'No server answers' },
  INTERNAL: { status: 500, exit: 1, title: 'An internal error' },
} as const;

/** A code of the table: stable, for programs; `StemmaError` says what else goes with it. */
export type ErrorCode = keyof typeof table;

/** The one error class: a code of the table, a sentence for the reader, and data for programs. */
export class StemmaError extends Error {
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    data: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StemmaError';
    this.code = code;
    this.data = data;
  }
}

/** HTTP status, exit code and title of a code. */
export function describeError(code: ErrorCode): { status: number; exit: number; title: string } {
  return table[code];
}

/** Every code, for the documentation and its test. */
export const errorCodes = Object.keys(table) as ErrorCode[];

/** What the edge shows of anything thrown: its own code, or INTERNAL without details. */
export function toStemmaError(thrown: unknown): StemmaError {
  if (thrown instanceof StemmaError) return thrown;
  return new StemmaError(
    'INTERNAL',
    'Something went wrong inside Stemma; the server log says what.',
    {},
    thrown,
  );
}
