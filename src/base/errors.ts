/**
 * Every error that leaves Stemma has a code of this table. `status` is HTTP, `exit` is the command line's exit code.
 * The title says what kind of thing happened; the message of the error says to which id, and what to do.
 */
const table = {
  /** A body, a parameter or a tool argument has the wrong shape. data: {issues: [{path, message}]}. Correct the named field. */
  INVALID_INPUT: { status: 400, exit: 2, title: 'The input is not valid' },
  /** The body is not JSON. Send valid JSON with content-type application/json. */
  MALFORMED_JSON: { status: 400, exit: 2, title: 'The body is not JSON' },
  /** The body is larger than the bound. data: {limitBytes}. Send less. */
  BODY_TOO_LARGE: { status: 413, exit: 2, title: 'The body is too large' },
  /** No token, or a token nobody issued. Send `Authorization: Bearer …` with the token from DIR/token. */
  UNAUTHORIZED: { status: 401, exit: 5, title: 'A valid token is needed' },
  /** The token is good, but not for this. data: {needs}. Use a token with the scope named. */
  FORBIDDEN: { status: 403, exit: 5, title: 'The token does not allow this' },
  /** The Host or Origin header names another server: a rebinding attack, or a proxy without `publicUrl`. */
  FOREIGN_HOST: { status: 403, exit: 5, title: 'The request names another host' },
  /** Nothing has this id or path. data: {id}. List what exists, then call again. */
  NOT_FOUND: { status: 404, exit: 3, title: 'Not found' },
  /** The path exists, but not with this method. data: {allowed}. Use one of those. */
  METHOD_NOT_ALLOWED: { status: 405, exit: 2, title: 'The method is not allowed' },
  /** An id prefix fits several things. data: {matches}. Give more characters. */
  AMBIGUOUS_ID: { status: 409, exit: 2, title: 'The id fits several things' },
  /** The parent named is closed: nothing may start below it any more. data: {parentId}. */
  PARENT_CLOSED: { status: 409, exit: 4, title: 'The parent is closed' },
  /** The tree was cancelled: nothing may start below it any more. data: {rootId}. */
  CANCELLED: { status: 409, exit: 4, title: 'The tree was cancelled' },
  /** The id is already registered for another session. data: {executionId, sessionId}. */
  SESSION_MISMATCH: { status: 409, exit: 4, title: 'The execution belongs to another session' },
  /** The turn in which the agent made this call has ended; nothing was started. */
  TURN_ENDED: { status: 409, exit: 4, title: 'The turn of this call has ended' },
  /** No running turn of the session is proven for this call; nothing was started. Call again. */
  TURN_NOT_PROVEN: { status: 409, exit: 4, title: 'The turn of this call is not proven' },
  /** The caller would wait for something whose closing needs the caller's own lane. End the turn instead. */
  WAIT_ON_SELF: { status: 409, exit: 4, title: 'Waiting for this would wait for oneself' },
  /** An orchestrator was given results in as many rounds as it may have, and had started sub-agents again. Raise maxRounds, or change what it is asked. */
  ROUNDS_EXCEEDED: { status: 502, exit: 1, title: 'An orchestrator gave out work more often than it may' },
  /** The tree is too deep for another launch. data: {limit}. Do the work here. */
  DEPTH_EXCEEDED: { status: 409, exit: 4, title: 'The tree is too deep' },
  /** The text is already in the agent's hands. Interrupt its continuation instead. data: {noticeId}. */
  IN_FLIGHT: { status: 409, exit: 4, title: 'The text is already with the agent' },
  /** The session is running a turn and the caller asked not to wait. */
  SESSION_BUSY: { status: 409, exit: 4, title: 'The session is busy' },
  /** A person stopped the session; only a person's message starts it again. */
  SESSION_STOPPED: { status: 409, exit: 4, title: 'The session is stopped' },
  /** The thing is in a state in which this makes no sense. data: {state}. */
  ILLEGAL_STATE: { status: 409, exit: 4, title: 'Not possible in this state' },
  /** The schedule's last run is still at work, and its policy is to skip. data: {runId?}. Wait for it, or stop it. */
  OVERLAP: { status: 409, exit: 4, title: 'A run of the schedule is still at work' },
  /** The key was used with another body. Use a new key for a new request. */
  IDEMPOTENCY_MISMATCH: { status: 409, exit: 4, title: 'The idempotency key belongs to another request' },
  /** A key with this attempt exists under the parent. data: {executionId}. */
  DUPLICATE_KEY: { status: 409, exit: 4, title: 'This attempt of the key exists already' },
  /** The server is still finding out what its agents did. Try again after the seconds of Retry-After. */
  RECOVERING: { status: 503, exit: 6, title: 'The server is still recovering' },
  /** The server is stopping and takes nothing more. */
  STOPPING: { status: 503, exit: 6, title: 'The server is stopping' },
  /** The agent's command cannot be started. data: {command}. Install it or correct the profile. */
  AGENT_UNAVAILABLE: { status: 409, exit: 5, title: 'The agent cannot be started' },
  /** The session has no terminal: its agent has no screen of its own, or tmux is missing. data: {agent?}. The message says which. */
  TERMINAL_UNAVAILABLE: { status: 409, exit: 5, title: 'The terminal cannot be had' },
  /** The agent answered with an error of its own. data: {agentCode?}. */
  AGENT_FAILED: { status: 502, exit: 1, title: 'The agent failed' },
  /** The process died, or vanished, without saying how the work ended. */
  LOST: { status: 502, exit: 1, title: 'The evidence of how it ended is gone' },
  /** The deadline passed; the tree was cancelled. */
  TIMED_OUT: { status: 504, exit: 124, title: 'The deadline passed' },
  /** More was used than the message and all that came of it was given; the tree was ended. */
  BUDGET: { status: 502, exit: 1, title: 'The budget was exceeded' },
  /** The agent does not tell what the budget counts, so it could not be kept; nothing was sent. data: {agent, reports}. */
  NO_USAGE: { status: 409, exit: 5, title: 'The agent does not report this usage' },
  /** A result could not be handed to its session after every attempt. */
  NOTICE_UNDELIVERABLE: { status: 502, exit: 1, title: 'A result could not be delivered' },
  /** The conversation cannot be had again, so its results cannot be delivered. */
  SESSION_GONE: { status: 502, exit: 1, title: 'The conversation is gone' },
  /** A usage limit, and a person gave up waiting for its end. */
  CAPACITY: { status: 502, exit: 7, title: 'A usage limit was not waited out' },
  /** The agent's sign-in has expired, and a person gave up waiting for a new one. */
  SIGNED_OUT: { status: 502, exit: 7, title: 'The agent is not signed in' },
  /** The check command of the message said no. data: {exitCode}. */
  CHECK_FAILED: { status: 502, exit: 1, title: 'The check failed' },
  /** A step of the workflow failed. The message says which, and why. */
  STEP_FAILED: { status: 502, exit: 1, title: 'A step failed' },
  /** A script left another exit code than 0, or none. The message has the code and the end of what it printed. */
  SCRIPT_FAILED: { status: 502, exit: 1, title: 'The script failed' },
  /** What was to choose the way of a workflow named none of its cases. */
  ROUTE_FAILED: { status: 502, exit: 1, title: 'No way was chosen' },
  /** A person was asked, and said no. */
  DECLINED: { status: 502, exit: 1, title: 'A person said no' },
  /** What a step was to leave behind is missing or does not fit. The message says which, where, and what was expected. */
  OUTPUT_INVALID: { status: 502, exit: 1, title: 'An output is missing or does not fit' },
  /** The agent itself said that it could not do what was asked. The message is what it said. */
  SELF_REPORTED: { status: 502, exit: 1, title: 'The agent reported a failure' },
  /** A descendant failed and the message asked for all to succeed (`join: all`). */
  DESCENDANT_FAILED: { status: 502, exit: 1, title: 'Something below failed' },
  /** A template of a message could not be filled in, as when its file is missing; it was not sent. The message says which. */
  TEMPLATE_FAILED: { status: 502, exit: 1, title: 'A template could not be filled in' },
  /** No run can work in this directory as it was asked to. data: {path}. The message says what to change. */
  INVALID_WORKSPACE: { status: 409, exit: 5, title: 'The workspace cannot be used' },
  /** Git is missing, has failed, or did not come to an end. data: {command, output}. */
  GIT_FAILED: { status: 502, exit: 5, title: 'Git failed' },
  /** Configuration is wrong. data: {file, line, column, key, nearest?}. */
  INVALID_CONFIG: { status: 400, exit: 5, title: 'The configuration is not valid' },
  /** Another server owns the data directory. data: {pid}. */
  DATA_DIR_IN_USE: { status: 409, exit: 4, title: 'The data directory is in use' },
  /** The data directory cannot be written. data: {path, reason}. */
  DATA_DIR_UNUSABLE: { status: 500, exit: 5, title: 'The data directory cannot be used' },
  /** The database was written by a newer Stemma. data: {found, known}. Use that version. */
  SCHEMA_TOO_NEW: { status: 500, exit: 5, title: 'The database is from a newer version' },
  /** A migration that was applied differs from the one in this version. data: {version}. */
  SCHEMA_DRIFT: { status: 500, exit: 5, title: 'The database has drifted' },
  /** The disk is full; nothing of this request was stored. */
  DISK_FULL: { status: 507, exit: 5, title: 'The disk is full' },
  /** The database cannot be used now. data: {database, reason, isUnknown?}. Send it again when it is back; isUnknown: look before. */
  DATABASE_UNAVAILABLE: { status: 503, exit: 5, title: 'The database cannot be used' },
  /** Another server works on the database. data: {database}. Stop that one, or use another database. */
  DATABASE_IN_USE: { status: 409, exit: 4, title: 'The database is in use' },
  /** The port is taken. data: {host, port}. */
  PORT_IN_USE: { status: 500, exit: 5, title: 'The port is in use' },
  /** No server answers. data: {url}. Start one with `stemma up`. */
  UNREACHABLE: { status: 502, exit: 6, title: 'No server answers' },
  /** A bug. The log has the details under the same id. */
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
