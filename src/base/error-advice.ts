import type { ErrorCode } from './errors.ts';

/** What each code means, what its `data` has, and what to do: Markdown, for the documentation. */
export const errorAdvice: Readonly<Record<ErrorCode, string>> = {
  INVALID_INPUT:
    'A body, a parameter or a tool argument has the wrong shape. data: {issues: [{path, message}]}. Correct the named field.',
  MALFORMED_JSON: 'The body is not JSON. Send valid JSON with content-type application/json.',
  BODY_TOO_LARGE: 'The body is larger than the bound. data: {limitBytes}. Send less.',
  UNAUTHORIZED:
    'No token, or a token nobody issued. Send `Authorization: Bearer …` with the token from DIR/token.',
  FORBIDDEN: 'The token is good, but not for this. data: {needs}. Use a token with the scope named.',
  FOREIGN_HOST:
    'The Host or Origin header names another server: a rebinding attack, or a proxy without `publicUrl`.',
  NOT_FOUND: 'Nothing has this id or path. data: {id}. List what exists, then call again.',
  METHOD_NOT_ALLOWED: 'The path exists, but not with this method. data: {allowed}. Use one of those.',
  AMBIGUOUS_ID: 'An id prefix fits several things. data: {matches}. Give more characters.',
  PARENT_CLOSED: 'The parent named is closed: nothing may start below it any more. data: {parentId}.',
  CANCELLED: 'The tree was cancelled: nothing may start below it any more. data: {rootId}.',
  SESSION_MISMATCH: 'The id is already registered for another session. data: {executionId, sessionId}.',
  TURN_ENDED: 'The turn in which the agent made this call has ended; nothing was started.',
  TURN_NOT_PROVEN: 'No running turn of the session is proven for this call; nothing was started. Call again.',
  WAIT_ON_SELF:
    "The caller would wait for something whose closing needs the caller's own lane. End the turn instead.",
  ROUNDS_EXCEEDED:
    'An orchestrator was given results in as many rounds as it may have, and had started sub-agents again. Raise maxRounds, or change what it is asked.',
  DEPTH_EXCEEDED: 'The tree is too deep for another launch. data: {limit}. Do the work here.',
  IN_FLIGHT:
    "The text is already in the agent's hands. Interrupt its continuation instead. data: {noticeId}.",
  SESSION_BUSY: 'The session is running a turn and the caller asked not to wait.',
  SESSION_STOPPED: "A person stopped the session; only a person's message starts it again.",
  ILLEGAL_STATE: 'The thing is in a state in which this makes no sense. data: {state}.',
  OVERLAP:
    "The schedule's last run is still at work, and its policy is to skip. data: {runId?}. Wait for it, or stop it.",
  IDEMPOTENCY_MISMATCH: 'The key was used with another body. Use a new key for a new request.',
  DUPLICATE_KEY: 'A key with this attempt exists under the parent. data: {executionId}.',
  RECOVERING:
    'The server is still finding out what its agents did. Try again after the seconds of Retry-After.',
  STOPPING: 'The server is stopping and takes nothing more.',
  AGENT_UNAVAILABLE:
    "The agent's command cannot be started. data: {command}. Install it or correct the profile.",
  TERMINAL_UNAVAILABLE:
    'The session has no terminal: its agent has no screen of its own, or tmux is missing. data: {agent?}. The message says which.',
  AGENT_FAILED: 'The agent answered with an error of its own. data: {agentCode?}.',
  LOST: 'The process died, or vanished, without saying how the work ended.',
  TIMED_OUT: 'The deadline passed; the tree was cancelled.',
  BUDGET: 'More was used than the message and all that came of it was given; the tree was ended.',
  NO_USAGE:
    'The agent does not tell what the budget counts, so it could not be kept; nothing was sent. data: {agent, reports}.',
  NOTICE_UNDELIVERABLE: 'A result could not be handed to its session after every attempt.',
  SESSION_GONE: 'The conversation cannot be had again, so its results cannot be delivered.',
  CAPACITY: 'A usage limit, and a person gave up waiting for its end.',
  SIGNED_OUT: "The agent's sign-in has expired, and a person gave up waiting for a new one.",
  CHECK_FAILED: 'The check command of the message said no. data: {exitCode}.',
  STEP_FAILED: 'A step of the workflow failed. The message says which, and why.',
  SCRIPT_FAILED:
    'A script left another exit code than 0, or none. The message has the code and the end of what it printed.',
  ROUTE_FAILED: 'What was to choose the way of a workflow named none of its cases.',
  DECLINED: 'A person was asked, and said no.',
  OUTPUT_INVALID:
    'What a step was to leave behind is missing or does not fit. The message says which, where, and what was expected.',
  SELF_REPORTED: 'The agent itself said that it could not do what was asked. The message is what it said.',
  DESCENDANT_FAILED: 'A descendant failed and the message asked for all to succeed (`join: all`).',
  TEMPLATE_FAILED:
    'A template of a message could not be filled in, as when its file is missing; it was not sent. The message says which.',
  INVALID_WORKSPACE:
    'No run can work in this directory as it was asked to. data: {path}. The message says what to change.',
  GIT_FAILED: 'Git is missing, has failed, or did not come to an end. data: {command, output}.',
  INVALID_CONFIG: 'Configuration is wrong. data: {file, line, column, key, nearest?}.',
  DATA_DIR_IN_USE: 'Another server owns the data directory. data: {pid}.',
  DATA_DIR_UNUSABLE: 'The data directory cannot be written. data: {path, reason}.',
  SCHEMA_TOO_NEW: 'The database was written by a newer Stemma. data: {found, known}. Use that version.',
  SCHEMA_DRIFT: 'A migration that was applied differs from the one in this version. data: {version}.',
  DISK_FULL: 'The disk is full; nothing of this request was stored.',
  DATABASE_UNAVAILABLE:
    'The database cannot be used now. data: {database, reason, isUnknown?}. Send it again when it is back; isUnknown: look before.',
  DATABASE_IN_USE:
    'Another server works on the database. data: {database}. Stop that one, or use another database.',
  PORT_IN_USE: 'The port is taken. data: {host, port}.',
  UNREACHABLE: 'No server answers. data: {url}. Start one with `stemma up`.',
  INTERNAL: 'A bug. The log has the details under the same id.',
};
